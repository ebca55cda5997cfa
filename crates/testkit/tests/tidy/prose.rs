//! The rules of prose, checked over every text of the repository that a person reads.

mod comments;
mod documents;
mod rules;
mod rust;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rules::{Fault, Kind, Text};

/// Folders without texts of our own.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];

/// Suffixes of files whose comments begin with `#`.
const HASHED: [&str; 11] = [
    "toml",
    "sh",
    "py",
    "yaml",
    "yml",
    "conf",
    "service",
    "sysusers",
    "tmpfiles",
    "Containerfile",
    "gitignore",
];

/// Returns the faults of one file. A file of an unknown kind has none.
fn faults(path: &str, source: &str) -> Vec<Fault> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let suffix = name.rsplit('.').next().unwrap_or(name);
    match suffix {
        "rs" => {
            let mut texts = rust::texts(source);
            if path.ends_with("metrics/meanings.rs") {
                texts.extend(rust::descriptions(source));
            }
            let mut faults = rules::check(&texts);
            faults.extend(rust::long_names(source));
            faults
        }
        "md" => {
            let mut faults = rules::check(&documents::texts(source));
            faults.extend(documents::wide_lines(source));
            faults
        }
        "sql" => rules::check(&comments::texts(source, "--")),
        "js" | "mjs" | "ts" | "php" => rules::check(&comments::texts(source, "//")),
        _ if HASHED.contains(&suffix) || source.starts_with("#!") => {
            rules::check(&comments::texts(source, "#"))
        }
        _ => Vec::new(),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Adds the files below a folder, as paths from the root.
fn files_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                files_below(&path, found);
            }
        } else {
            let below_root = path.strip_prefix(root()).unwrap();
            found.insert(below_root.to_string_lossy().into_owned());
        }
    }
}

#[test]
fn prose_keeps_its_rules() {
    let mut files = BTreeSet::new();
    files_below(&root(), &mut files);
    assert!(files.len() > 300, "the files were not found");
    let mut wrong = Vec::new();
    for path in &files {
        let Ok(source) = fs::read_to_string(root().join(path)) else {
            continue;
        };
        let shown = faults(path, &source).into_iter();
        wrong.extend(shown.map(|fault| format!("{path}:{fault}")));
    }
    assert!(
        wrong.is_empty(),
        "{} faults\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn each_kind_of_file_is_read_by_its_comments() {
    let cases = [
        ("a.rs", "// What is here.\n", 1),
        ("a.rs", "let a = \"// What is here.\";\n", 0),
        (
            "a/metrics/meanings.rs",
            "(\"ogene_a\", \"What is here.\")",
            1,
        ),
        ("a.sql", "-- What is here.\nselect 1;\n", 1),
        ("a.toml", "# What is here.\na = 1\n", 1),
        ("run", "#!/bin/sh\n# What is here.\n", 1),
        ("run", "# What is here.\n", 0),
        ("a.mjs", "// What is here.\n", 1),
        ("a.md", "What is here.\n", 1),
        ("a.md", "What is here?\n", 0),
        ("a.txt", "What is here.\n", 0),
    ];
    for (path, source, expected) in cases {
        let found = faults(path, source);
        assert_eq!(found.len(), expected, "{path} {source:?} {found:?}");
    }
}
