//! Rules of the documents: each file, page and section that a text names exists.

use regex::Regex;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files of the repository that hold text of ours.
const TEXTS: [&str; 14] = [
    ".ci",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "bench",
    "crates",
    "docs",
    "examples",
    "findings",
    "fuzz",
    "packaging",
    "tests",
];
/// Folders that tools fill.
const MADE: [&str; 4] = ["target", "node_modules", "corpus", "artifacts"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all files below a path.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let Ok(entries) = fs::read_dir(path) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .is_none_or(|name| !MADE.iter().any(|made| *made == name))
        })
        .flat_map(|path| files(&path))
        .collect()
}

/// Returns every text with its path.
fn texts() -> Vec<(PathBuf, String)> {
    let found: Vec<_> = TEXTS
        .iter()
        .flat_map(|path| files(&root().join(path)))
        .filter_map(|path| Some((path.clone(), fs::read_to_string(&path).ok()?)))
        .collect();
    assert!(found.len() > 300, "the texts were not found");
    found
}

fn shown(path: &Path) -> String {
    let root = root();
    path.strip_prefix(&root)
        .unwrap_or(path)
        .display()
        .to_string()
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// A page with its headings.
fn headings(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn each_relative_link_of_a_document_leads_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut broken = Vec::new();
    for (path, text) in texts().iter().filter(|(path, _)| is_document(path)) {
        for target in link.captures_iter(text).map(|found| found[1].to_owned()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, fragment) = target.split_once('#').unwrap_or((&target, ""));
            let page = match file {
                "" => path.clone(),
                _ => path.parent().unwrap().join(file),
            };
            let is_there = page.exists()
                && (fragment.is_empty()
                    || headings(&page).iter().any(|line| anchor(line) == fragment));
            if !is_there {
                broken.push(format!("{}: {target}", shown(path)));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn each_path_that_a_text_names_exists() {
    let named = Regex::new(
        r"(?:^|[^\w./$}-])((?:bench|crates|docs|examples|findings|fuzz|packaging|tests)/[\w./-]*\w\.(?:md|rs|toml|sql|conf|yml|yaml|json|py|sh|js|mjs|php|service|txt))\b",
    )
    .unwrap();
    let mut missing = Vec::new();
    for (path, text) in texts() {
        for name in named.captures_iter(&text).map(|found| found[1].to_owned()) {
            // Paths in manifests and modules are relative to their crate.
            let places = path.ancestors().skip(1).take(10);
            if !places.into_iter().any(|place| place.join(&name).exists()) {
                missing.push(format!("{}: {name}", shown(&path)));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn each_document_that_a_text_names_exists() {
    let named = Regex::new(r"[`( ]((?:[\w-]+/)*[\w-]+\.md)\b").unwrap();
    let mut missing = Vec::new();
    for (path, text) in texts() {
        // A test of the documents names missing files.
        if path.ends_with("tidy/documents.rs") {
            continue;
        }
        // Files that a command writes, or that a package installs, are not in the repository.
        let lines = text
            .lines()
            .filter(|line| !line.contains("--markdown ") && !line.contains("usr/share/"));
        for name in
            lines.flat_map(|line| named.captures_iter(line).map(|found| found[1].to_owned()))
        {
            let beside = path.parent().unwrap().join(&name);
            if !beside.exists() && !root().join(&name).exists() {
                missing.push(format!("{}: {name}", shown(&path)));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn each_test_that_the_guarantees_name_exists() {
    let named = Regex::new(r"`((?:it|cli|nodes|faults|contract)/\w+\.rs)`").unwrap();
    let text = fs::read_to_string(root().join("docs/spec/guarantees.md")).unwrap();
    let places = [
        "crates/server/tests",
        "crates/server/tests/system",
        "crates/store/tests",
    ];
    let places = places.map(|path| root().join(path));
    for name in named.captures_iter(&text).map(|found| found[1].to_owned()) {
        let is_there = places.iter().any(|place| place.join(&name).exists());
        assert!(is_there, "{name}");
    }
}

#[test]
fn each_section_that_a_text_names_exists() {
    let named = Regex::new(
        r"(docs/spec/\w+\.md),(?:\s|//[/!])*sections? ([\d.]*\d)(?: (?:and|to) ([\d.]*\d))?",
    )
    .unwrap();
    let (mut found, mut missing) = (0, Vec::new());
    for (path, text) in texts() {
        for name in named.captures_iter(&text) {
            let headings = headings(&root().join(&name[1]));
            for section in name.iter().skip(2).flatten() {
                let number = format!(" {}", section.as_str());
                let is_there = headings.iter().any(|line| {
                    let line = line.trim_start_matches('#');
                    line.strip_prefix(number.as_str())
                        .is_some_and(|rest| rest.starts_with([' ', '.']))
                });
                found += 1;
                if !is_there {
                    missing.push(format!("{}: {}", shown(&path), &name[0]));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(found >= 20, "{found} references to the specification");
}

#[test]
fn each_decision_that_a_text_names_exists() {
    let named = Regex::new(r"[Dd]ecisions? (\d{4})(?:(?:, | and | to )(\d{4}))*").unwrap();
    let known: Vec<String> = files(&root().join("docs/decisions"))
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy()[..4].to_owned())
        .collect();
    let mut missing = Vec::new();
    for (path, text) in texts() {
        for name in named.captures_iter(&text) {
            for number in name.iter().skip(1).flatten() {
                if !known.iter().any(|known| known == number.as_str()) {
                    missing.push(format!("{}: {}", shown(&path), number.as_str()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn readme_and_architecture_are_short() {
    for (name, most) in [("README.md", 90), ("ARCHITECTURE.md", 120)] {
        let text = fs::read_to_string(root().join(name)).unwrap();
        assert!(text.lines().count() <= most, "{name}");
    }
}

#[test]
fn a_decision_is_at_most_40_lines_in_one_form() {
    let mut faults = Vec::new();
    for path in files(&root().join("docs/decisions")) {
        let text = fs::read_to_string(&path).unwrap();
        let parts = ["Status: ", "## Context", "## Decision", "## Consequences"];
        let has_all = parts
            .iter()
            .all(|part| text.lines().any(|line| line.starts_with(part)));
        if text.lines().count() > 40 || !has_all {
            faults.push(shown(&path));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Returns the names of our metrics in a text, without the suffixes of histograms.
fn metrics(text: &str) -> BTreeSet<String> {
    let named = Regex::new(r"\bogene_[a-z_]*[a-z]\b").unwrap();
    let suffixes = ["_bucket", "_count", "_sum"];
    let found = named.find_iter(text).map(|found| found.as_str());
    found
        .map(|name| {
            let plain = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
            plain.unwrap_or(name).to_owned()
        })
        .collect()
}

#[test]
fn each_metric_of_the_examples_and_pages_is_served() {
    let sources = ["crates/engine/src", "crates/server/src"].map(|path| files(&root().join(path)));
    let served: BTreeSet<String> = sources
        .iter()
        .flatten()
        .flat_map(|path| metrics(&fs::read_to_string(path).unwrap_or_default()))
        .collect();
    let places = ["examples/grafana", "examples/prometheus", "docs/operating"];
    let mut checked = 0;
    for path in places.iter().flat_map(|path| files(&root().join(path))) {
        for name in metrics(&fs::read_to_string(&path).unwrap()) {
            // A role of PostgreSQL in an example.
            let is_known = served.contains(&name) || name == "ogene_service";
            assert!(is_known, "{}: {name}", shown(&path));
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} metrics were named");
}
