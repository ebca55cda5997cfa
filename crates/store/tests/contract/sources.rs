//! The contract is complete: a rule tests every public function of `Store`.

use std::path::{Path, PathBuf};

/// Returns all Rust files below a directory.
pub(crate) fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

pub(crate) fn crate_files(folder: &str) -> Vec<PathBuf> {
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
}

/// Returns the public functions in the `impl Store` blocks of a source.
fn public_functions(source: &str) -> Vec<String> {
    let mut functions = Vec::new();
    let mut within = false;
    for line in source.lines() {
        match line {
            "impl Store {" => within = true,
            "}" => within = false,
            line if within => {
                let words = line.trim_start();
                let name = words
                    .strip_prefix("pub async fn ")
                    .or_else(|| words.strip_prefix("pub fn "));
                functions.extend(
                    name.and_then(|rest| rest.split(['(', '<']).next())
                        .map(str::to_owned),
                );
            }
            _ => {}
        }
    }
    functions
}

#[test]
fn every_public_function_of_the_store_is_in_the_contract() {
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let functions: Vec<String> = crate_files("src")
        .iter()
        .flat_map(|path| public_functions(&read(path)))
        .collect();
    assert!(
        functions.len() > 25,
        "the sources are not read right: {functions:?}"
    );
    // The import is the only user of the stored forms, and its tests cover them.
    let contract = [crate_files("tests"), crate_files("../import")].concat();
    let contract: String = contract.iter().map(read).collect();
    let missing: Vec<&String> = functions
        .iter()
        .filter(|name| {
            let (method, function) = (format!(".{name}("), format!("Store::{name}("));
            !contract.contains(&method) && !contract.contains(&function)
        })
        .collect();
    assert!(missing.is_empty(), "no rule uses {missing:?}");
}
