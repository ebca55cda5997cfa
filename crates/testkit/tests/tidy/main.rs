//! The tests of the rules of the repository: borders between the crates, sizes, names, prose.
//!
//! They only read files, so they are in the crate that is built first.

#[cfg(test)]
mod prose;

#[cfg(test)]
mod documents;

#[cfg(test)]
mod impls;

#[cfg(test)]
mod imports;

#[cfg(test)]
mod tidy {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// The crates that a crate may name, by the table of borders in `ARCHITECTURE.md`.
    struct Border {
        name: &'static str,
        /// Our own crates.
        ours: &'static [&'static str],
        /// The guarded libraries.
        guarded: &'static [&'static str],
    }

    const BORDERS: [Border; 12] = [
        Border {
            name: "domain",
            ours: &[],
            guarded: &[],
        },
        Border {
            name: "smpp",
            ours: &[],
            guarded: &["tokio"],
        },
        Border {
            name: "sheets",
            ours: &[],
            guarded: &[],
        },
        Border {
            name: "database",
            ours: &[],
            guarded: &["rusqlite", "sqlx", "sqlx-core", "tokio"],
        },
        Border {
            name: "store",
            ours: &["database", "domain"],
            guarded: &["tokio"],
        },
        Border {
            name: "import",
            ours: &["database", "domain", "store"],
            guarded: &["tokio"],
        },
        Border {
            name: "engine",
            ours: &["database", "domain", "sheets", "smpp", "store"],
            guarded: &["getrandom", "hyper", "rand", "tokio"],
        },
        Border {
            name: "console",
            ours: &["domain"],
            guarded: &["askama"],
        },
        Border {
            name: "server",
            ours: &[
                "console", "database", "domain", "engine", "import", "smpp", "store",
            ],
            guarded: &["axum", "getrandom", "hyper", "rand", "tokio", "tower-http"],
        },
        Border {
            name: "testkit",
            ours: &[],
            guarded: &[],
        },
        Border {
            name: "storekit",
            ours: &["database", "domain", "store"],
            guarded: &[],
        },
        // It uses the binary only as customers do, and makes tokens as the binary does.
        Border {
            name: "bench",
            ours: &["domain", "smpp"],
            guarded: &["getrandom", "hyper", "rand", "tokio"],
        },
    ];

    /// Crates that only tests name.
    const KITS: [&str; 2] = ["storekit", "testkit"];

    /// Libraries that only some crates may name: databases, servers, randomness, a runtime.
    const GUARDED: [&str; 13] = [
        "actix-web",
        "askama",
        "axum",
        "getrandom",
        "hyper",
        "rand",
        "reqwest",
        "rusqlite",
        "sqlx",
        "sqlx-core",
        "tokio",
        "tokio-postgres",
        "tower-http",
    ];

    /// Words that do not describe a thing.
    const EMPTY_WORDS: [&str; 6] = ["manager", "helper", "util", "utils", "service", "common"];

    /// Maximum number of lines of a file, without tests.
    const MAX_LINES: usize = 400;

    pub(super) fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Returns the folders of all crates.
    pub(super) fn crates() -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = fs::read_dir(root().join("crates"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("Cargo.toml").exists())
            .collect();
        folders.extend(["bench", "crates/store/tests/kit"].map(|folder| root().join(folder)));
        folders
    }

    /// Returns all Rust files below a folder.
    pub(super) fn rust_files(folder: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let Ok(entries) = fs::read_dir(folder) else {
            return files;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files.extend(rust_files(&path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
        files
    }

    fn sources() -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = crates()
            .iter()
            .flat_map(|folder| {
                ["src", "tests", "benches", "examples"].map(|part| folder.join(part))
            })
            .flat_map(|folder| rust_files(&folder))
            .collect();
        files.sort();
        assert!(files.len() > 50, "the sources were not found");
        files
    }

    fn shown(path: &Path) -> String {
        let root = root();
        path.strip_prefix(&root)
            .unwrap_or(path)
            .display()
            .to_string()
    }

    /// Returns the packages that a manifest names, by any name and for any purpose.
    fn dependencies(manifest: &toml::Table) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (key, value) in manifest {
            let Some(table) = value.as_table() else {
                continue;
            };
            if ["dependencies", "dev-dependencies", "build-dependencies"].contains(&key.as_str()) {
                for (name, dependency) in table {
                    let package = dependency.get("package").and_then(toml::Value::as_str);
                    found.insert(package.unwrap_or(name).to_owned());
                }
            } else if key == "target" {
                for platform in table.values().filter_map(toml::Value::as_table) {
                    found.extend(dependencies(platform));
                }
            }
        }
        found
    }

    #[test]
    fn only_dev_dependencies_name_the_kits_of_tests() {
        for folder in crates() {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let mut manifest: toml::Table = manifest.parse().unwrap();
            if manifest["package"]["name"].as_str() == Some("storekit") {
                continue;
            }
            manifest.remove("dev-dependencies");
            let dependencies = dependencies(&manifest);
            let named = KITS.iter().find(|kit| dependencies.contains(**kit));
            assert_eq!(named, None, "{} outside of its tests", shown(&folder));
        }
    }

    /// `cargo build` builds the default members, and unites their features.
    #[test]
    fn a_release_is_built_without_test_support() {
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let members = manifest["workspace"]["default-members"].as_array().unwrap();
        assert_eq!(members, &[toml::Value::from("crates/*")]);
        let names_it = |value: &toml::Value| value.to_string().contains("test-support");
        assert!(!names_it(&manifest["workspace"]["dependencies"]));
        for folder in crates() {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let mut manifest: toml::Table = manifest.parse().unwrap();
            if manifest["package"]["name"].as_str() == Some("storekit") {
                continue;
            }
            manifest.remove("dev-dependencies");
            if let Some(features) = manifest
                .get_mut("features")
                .and_then(|all| all.as_table_mut())
            {
                features.remove("test-support");
            }
            let enabled = manifest.iter().find(|(_, value)| names_it(value));
            assert_eq!(enabled, None, "{}", shown(&folder));
        }
    }

    #[test]
    fn each_crate_names_only_what_its_border_lets_through() {
        let ours: BTreeSet<&str> = BORDERS.iter().map(|border| border.name).collect();
        let mut faults = Vec::new();
        for folder in crates() {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let manifest: toml::Table = manifest.parse().unwrap();
            let name = manifest["package"]["name"].as_str().unwrap();
            let Some(border) = BORDERS.iter().find(|border| border.name == name) else {
                faults.push(format!("{name} has no border: give it one"));
                continue;
            };
            for dependency in dependencies(&manifest) {
                let dependency = dependency.as_str();
                // Tests of every crate may use it.
                if KITS.contains(&dependency) {
                    continue;
                }
                let forbidden = dependency != name
                    && ours.contains(dependency)
                    && !border.ours.contains(&dependency)
                    || GUARDED.contains(&dependency) && !border.guarded.contains(&dependency);
                if forbidden {
                    faults.push(format!("{name} names {dependency}"));
                }
            }
        }
        assert!(faults.is_empty(), "{faults:#?}");
    }

    /// Returns the lines of a source without its test modules.
    fn counted_lines(source: &str) -> usize {
        let (mut count, mut within_tests, mut marked) = (0, false, false);
        for line in source.lines() {
            within_tests |= marked && line.starts_with("mod ") && line.ends_with('{');
            marked = line == "#[cfg(test)]";
            if !within_tests {
                count += 1;
            }
            within_tests &= line != "}";
        }
        count
    }

    /// Returns `true` if a file holds tests alone.
    pub(super) fn is_test(path: &Path) -> bool {
        let of_tests = |name: &str| name == "tests" || name.ends_with("_tests");
        path.components().any(|part| part.as_os_str() == "tests")
            || path
                .file_stem()
                .and_then(|name| name.to_str())
                .is_some_and(of_tests)
    }

    #[test]
    fn no_file_is_longer_than_400_lines_without_its_tests() {
        let long: Vec<String> = sources()
            .iter()
            .filter(|path| !is_test(path))
            .filter_map(|path| {
                let lines = counted_lines(&fs::read_to_string(path).unwrap());
                (lines > MAX_LINES).then(|| format!("{}: {lines} lines", shown(path)))
            })
            .collect();
        assert!(long.is_empty(), "{long:#?}");
    }

    #[test]
    fn a_module_is_a_file_of_its_name() {
        let found: Vec<String> = sources()
            .iter()
            .filter(|path| path.file_name().is_some_and(|name| name == "mod.rs"))
            .map(|path| shown(path))
            .collect();
        assert!(found.is_empty(), "{found:#?}");
    }

    /// Returns the words of a name, in small letters: `SendManager` and `send_manager` are `send`,
    /// `manager`.
    fn words(name: &str) -> Vec<String> {
        let mut spaced = String::new();
        for character in name.chars() {
            if character.is_uppercase() {
                spaced.push('_');
            }
            spaced.extend(character.to_lowercase());
        }
        spaced.split('_').map(str::to_owned).collect()
    }

    /// Returns the name of a module or type that a line defines.
    fn defined(line: &str) -> Option<&str> {
        const VISIBILITY: [&str; 3] = ["pub(crate) ", "pub(super) ", "pub "];
        const KEYWORDS: [&str; 5] = ["mod ", "struct ", "enum ", "trait ", "type "];
        let line = line.trim_start();
        let line = VISIBILITY
            .iter()
            .find_map(|visibility| line.strip_prefix(visibility))
            .unwrap_or(line);
        let rest = KEYWORDS
            .iter()
            .find_map(|keyword| line.strip_prefix(keyword))?;
        rest.split(|character: char| !character.is_alphanumeric() && character != '_')
            .next()
    }

    /// `Service` as the name of an associated type is the libraries' choice, not ours.
    fn is_associated(line: &str) -> bool {
        line.trim_start().starts_with("type ") && line.starts_with(' ')
    }

    #[test]
    fn no_module_and_no_type_has_a_name_that_says_nothing() {
        let mut found = Vec::new();
        for path in sources() {
            let source = fs::read_to_string(&path).unwrap();
            let names = source
                .lines()
                .filter(|line| !is_associated(line))
                .filter_map(defined)
                .chain(path.file_stem().and_then(|name| name.to_str()));
            for name in names {
                if words(name)
                    .iter()
                    .any(|word| EMPTY_WORDS.contains(&word.as_str()))
                {
                    found.push(format!("{}: {name}", shown(&path)));
                }
            }
        }
        assert!(found.is_empty(), "{found:#?}");
    }

    /// A change to the code of a planted fault fails here, before the next long run.
    #[test]
    fn every_planted_fault_has_its_place() {
        let list = fs::read_to_string(root().join("tests/planted/faults.toml")).unwrap();
        let list: toml::Table = list.parse().unwrap();
        let faults = list["fault"].as_array().unwrap();
        assert!(faults.len() >= 30);
        for fault in faults {
            let word = |name: &str| fault[name].as_str().unwrap();
            let source = fs::read_to_string(root().join(word("file"))).unwrap();
            let places = source.matches(word("is")).count();
            assert_eq!(places, 1, "{} in {}", word("name"), word("file"));
        }
    }

    /// A renamed test of a planted fault fails here, before the next long run.
    #[test]
    fn every_planted_fault_has_its_test() {
        let list = fs::read_to_string(root().join("tests/planted/faults.toml")).unwrap();
        let list: toml::Table = list.parse().unwrap();
        for fault in list["fault"].as_array().unwrap() {
            let word = |name: &str| fault[name].as_str().unwrap();
            let (package, binary) = word("of").split_once(' ').unwrap();
            let place = if binary == "lib" { "src" } else { "tests" };
            // The macro of the contract makes the modules of the databases.
            let is_file = |name: &&str| !["tests", "sqlite", "postgres", "spread"].contains(name);
            let mut path = word("caught_by").rsplit("::").filter(is_file);
            let test = format!("fn {}(", path.next().unwrap());
            let module = path.next().unwrap_or_default();
            let files = rust_files(&root().join("crates").join(package).join(place));
            let is_there = files.iter().any(|file| {
                let is_of_module = file.iter().any(|part| part == module)
                    || file.file_stem().is_some_and(|stem| stem == module)
                    || module.is_empty();
                is_of_module && fs::read_to_string(file).unwrap().contains(&test)
            });
            assert!(is_there, "{} names {}", word("name"), word("caught_by"));
        }
    }

    /// Returns the metrics that a source names.
    fn metrics(source: &str) -> BTreeSet<String> {
        let is_metric = |word: &&str| {
            let plain = |byte| matches!(byte, b'a'..=b'z' | b'_');
            word.starts_with("ogene_") && word.bytes().all(plain)
        };
        let words = source.split('"').filter(is_metric);
        words.map(str::to_owned).collect()
    }

    #[test]
    fn every_metric_has_a_meaning_and_is_counted() {
        let place = root().join("crates/server/src/app/metrics/meanings.rs");
        let told = metrics(&fs::read_to_string(&place).unwrap());
        let counting = sources().into_iter().filter(|path| {
            let shown = shown(path);
            let ours = ["crates/engine/src", "crates/server/src"];
            !is_test(path) && ours.iter().any(|crate_| shown.starts_with(crate_)) && *path != place
        });
        let counted: BTreeSet<String> = counting
            .flat_map(|path| metrics(&fs::read_to_string(path).unwrap()))
            .collect();
        assert_eq!(counted, told);
    }

    #[test]
    fn the_rules_are_read_right() {
        assert_eq!(words("SendManager"), ["", "send", "manager"]);
        assert_eq!(
            defined("    pub(crate) struct SendManager<T> {"),
            Some("SendManager")
        );
        assert_eq!(defined("let module = 1;"), None);
        let source = "a\n#[cfg(test)]\nmod tests {\n    b\n}\nc\n";
        assert_eq!(counted_lines(source), 3);
        let manifest =
            "[dependencies]\na = '1'\n[target.'cfg(unix)'.dependencies]\nb.package = 'c'";
        let named = dependencies(&manifest.parse().unwrap());
        assert_eq!(named, ["a", "c"].map(str::to_owned).into());
    }
}
