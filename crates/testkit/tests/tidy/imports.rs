//! The graph of imports between the files of a crate: no file imports itself by way of others, and
//! a stage of the engine imports no later one.

use super::tidy::{crates, is_test, root, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The parts of the engine. A file imports its own part and earlier ones.
const ENGINE_PARTS: [&str; 19] = [
    "error",
    "mail",
    "settings",
    "context",
    "payments",
    "changes",
    "queries",
    "uploads",
    "admit",
    "accept",
    "dispatch",
    "settle",
    "notify",
    "cluster",
    "background",
    "operators",
    "contacts",
    "sessions",
    "engine",
];

/// The path of a module in its crate. The root has none.
type Module = Vec<String>;

/// The modules of a crate, with the modules that each imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Returns the source without comments, and without its test modules.
pub(super) fn code(source: &str) -> String {
    let (mut code, mut marked, mut within_tests) = (String::new(), false, false);
    for line in source.lines() {
        within_tests |= marked && line.starts_with("mod ") && line.ends_with('{');
        marked = line == "#[cfg(test)]" || marked && line.starts_with("#[");
        if !within_tests && !line.trim_start().starts_with("//") {
            code.push_str(line.split(" // ").next().unwrap_or(line));
            code.push('\n');
        }
        within_tests &= line != "}";
    }
    code
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns all paths that the code names, with the groups of `use` written out.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let starts = code.match_indices("::").filter_map(|(end, _)| {
        let start = code[..end].rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
        let is_first = start < end && !code[..start].ends_with("::");
        is_first.then_some(start)
    });
    for start in starts {
        let mut rest = &code[start..];
        tree(&mut rest, &[], &mut found);
    }
    found
}

/// Reads one tree of paths from the beginning of `rest`.
fn tree(rest: &mut &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    loop {
        *rest = rest.trim_start();
        if let Some(inner) = rest.strip_prefix('{') {
            *rest = inner;
            while !rest.trim_start().starts_with('}') && !rest.trim_start().is_empty() {
                let left = rest.len();
                tree(rest, &path, found);
                *rest = rest.trim_start();
                *rest = rest.strip_prefix(',').unwrap_or(rest);
                if rest.len() == left {
                    return;
                }
            }
            *rest = rest.trim_start();
            *rest = rest.strip_prefix('}').unwrap_or(rest);
            return;
        }
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if end > 0 {
            path.push(rest[..end].to_owned());
            *rest = &rest[end..];
        }
        match rest.strip_prefix("::") {
            Some(after) if end > 0 => *rest = after,
            _ => break,
        }
    }
    if path.len() > before.len() {
        found.push(path);
    }
    // The name after `as` is no path.
    if let Some(renamed) = rest.strip_prefix(" as ") {
        let end = renamed.find(|c| !is_word(c)).unwrap_or(renamed.len());
        *rest = &renamed[end..];
    }
}

/// Returns the module that a path names from `from`: the deepest one that is a file.
fn target(path: &[String], from: &Module, files: &BTreeSet<Module>) -> Option<Module> {
    let mut names = path.iter().map(String::as_str).peekable();
    let mut module = match *names.peek()? {
        "crate" => {
            names.next();
            Module::new()
        }
        "self" => {
            names.next();
            from.clone()
        }
        "super" => {
            let mut module = from.clone();
            while names.next_if_eq(&"super").is_some() {
                module.pop();
            }
            module
        }
        first => {
            let mut child = from.clone();
            child.push(first.to_owned());
            if !files.contains(&child) {
                return None;
            }
            from.clone()
        }
    };
    for name in names {
        module.push(name.to_owned());
        if !files.contains(&module) {
            module.pop();
            break;
        }
    }
    Some(module)
}

/// Returns the module of a file below `src`.
fn module(file: &Path, src: &Path) -> Module {
    let inner = file.strip_prefix(src).unwrap().with_extension("");
    let names = inner.iter().map(|name| name.to_str().unwrap().to_owned());
    let module: Module = names.collect();
    match module.first().map(String::as_str) {
        Some("lib" | "main") if module.len() == 1 => Module::new(),
        _ => module,
    }
}

/// Returns the imports between the files of a crate, without tests.
fn imports(folder: &Path) -> Imports {
    let src = folder.join("src");
    let sources: BTreeMap<Module, String> = rust_files(&src)
        .into_iter()
        .filter(|file| !is_test(file))
        .map(|file| {
            (
                module(&file, &src),
                code(&fs::read_to_string(&file).unwrap()),
            )
        })
        .collect();
    let files: BTreeSet<Module> = sources.keys().cloned().collect();
    let of = |(from, code): (&Module, &String)| {
        let targets = paths(code)
            .into_iter()
            .filter_map(|path| target(&path, from, &files))
            .filter(|target| target != from)
            .collect();
        (from.clone(), targets)
    };
    sources.iter().map(of).collect()
}

/// Returns the modules that `from` imports, also by way of others.
fn reached(from: &Module, imports: &Imports) -> BTreeSet<Module> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(next) = left.pop() {
        for target in imports.get(next).into_iter().flatten() {
            if reached.insert(target.clone()) {
                left.push(target);
            }
        }
    }
    reached
}

/// Returns the modules in rings, with the modules of the same ring that each imports.
fn rings(imports: &Imports) -> BTreeMap<Module, Vec<Module>> {
    let all: BTreeMap<&Module, BTreeSet<Module>> = imports
        .keys()
        .map(|from| (from, reached(from, imports)))
        .collect();
    let in_ring = all
        .iter()
        .filter(|(from, reached)| reached.contains(**from));
    in_ring
        .map(|(from, _)| {
            let back = |target: &&Module| all[target].contains(*from);
            let targets = imports[*from].iter().filter(back).cloned();
            ((*from).clone(), targets.collect())
        })
        .collect()
}

/// Returns the name of a module in a fault: `engine::context::clock`.
fn name(crate_: &str, module: &Module) -> String {
    let names = [crate_.to_owned()].into_iter().chain(module.clone());
    names.collect::<Vec<_>>().join("::")
}

/// Returns the faults of the rings of a crate.
fn faults_of(crate_: &str, rings: &BTreeMap<Module, Vec<Module>>) -> Vec<String> {
    let faults = rings.iter().map(|(module, targets)| {
        let targets: Vec<String> = targets.iter().map(|one| name(crate_, one)).collect();
        let module = name(crate_, module);
        format!("{module} imports {} in a ring", targets.join(", "))
    });
    faults.collect()
}

#[test]
fn no_file_imports_itself_by_way_of_others() {
    let mut faults = Vec::new();
    for folder in crates() {
        let crate_ = folder.file_name().unwrap().to_str().unwrap().to_owned();
        faults.extend(faults_of(&crate_, &rings(&imports(&folder))));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_stage_of_the_engine_imports_no_later_one() {
    let order = |module: &Module| {
        let part = module.first()?;
        ENGINE_PARTS.iter().position(|known| known == part)
    };
    let mut faults = Vec::new();
    for (module, targets) in imports(&root().join("crates/engine")) {
        // `lib.rs` is the map: it names all parts, and no part names it.
        let Some(place) = order(&module) else {
            assert!(module.is_empty(), "{module:?} has no place in the order");
            continue;
        };
        let later = targets
            .iter()
            .filter(|target| order(target).is_none_or(|other| other > place));
        faults.extend(later.map(|later| {
            format!(
                "{} imports {}",
                name("engine", &module),
                name("engine", later)
            )
        }));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn imports_are_read_from_groups_paths_and_children() {
    let source = "use crate::a::{b::C, d};\nfn f() { super::e::g(); x::y() }\n\
                  // use crate::comment::X;\n#[cfg(test)]\nmod tests {\n    use super::h::I;\n}\n";
    let files: BTreeSet<Module> = ["a", "a::b", "a::d", "m", "m::n", "m::n::x", "m::e", "m::h"]
        .map(|path| path.split("::").map(str::to_owned).collect())
        .into();
    let from: Module = vec!["m".to_owned(), "n".to_owned()];
    let found: BTreeSet<String> = paths(&code(source))
        .iter()
        .filter_map(|path| target(path, &from, &files))
        .map(|module| module.join("::"))
        .collect();
    let wanted = ["a::b", "a::d", "m::e", "m::n::x"].map(str::to_owned);
    assert_eq!(found, wanted.into());
}
