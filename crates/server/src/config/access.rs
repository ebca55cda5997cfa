//! The permissions of the files that hold passwords and keys.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The mode bits that let every user read or change a file.
const OTHERS: u32 = 0o006;

/// Returns a sentence for each file with secrets that every user of the machine can read or change.
/// These are the files that the configuration names, and the configuration itself if it has
/// secrets.
pub(super) fn notes(file: &Path, text: &str) -> Vec<String> {
    let Ok(table) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    let here = holds_secret(&table).then(|| file.to_owned());
    let named = named_files(&table).into_iter();
    let open = here.into_iter().chain(named).filter(|file| is_open(file));
    open.map(|file| {
        let file = file.display();
        format!(
            "{file} holds a password or a key, and every user of this machine can read or change it: chmod o= {file}"
        )
    })
    .collect()
}

fn is_open(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.permissions().mode() & OTHERS != 0)
}

fn carriers(table: &toml::Table) -> impl Iterator<Item = &toml::Table> {
    let carriers = table.get("carriers").and_then(toml::Value::as_table);
    carriers
        .into_iter()
        .flat_map(toml::Table::values)
        .filter_map(toml::Value::as_table)
}

fn mail(table: &toml::Table) -> Option<&toml::Table> {
    table.get("mail").and_then(toml::Value::as_table)
}

fn holds_secret(table: &toml::Table) -> bool {
    let has_password = |one: &toml::Table| one.contains_key("password");
    table.contains_key("database_url")
        || carriers(table).any(has_password)
        || mail(table).is_some_and(has_password)
}

fn named_files(table: &toml::Table) -> Vec<PathBuf> {
    let http = table.get("http").and_then(toml::Value::as_table);
    let tls = http.and_then(|http| http.get("tls")?.as_table());
    let named = [
        table.get("database_url_file"),
        tls.and_then(|tls| tls.get("key")),
        mail(table).and_then(|mail| mail.get("password_file")),
    ];
    let passwords = carriers(table).map(|one| one.get("password_file"));
    named
        .into_iter()
        .chain(passwords)
        .flatten()
        .filter_map(|path| Some(PathBuf::from(path.as_str()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_secrets_that_others_can_read_are_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let [file, key] = ["ogene.toml", "key.pem"].map(|name| directory.path().join(name));
        let secret = "[carriers.mtn]\npassword = \"p\"\n".to_owned();
        let plain = "[http]\nlisten = \"127.0.0.1:0\"\n".to_owned();
        let named = format!("[http]\ntls = {{ certificate = \"c\", key = {key:?} }}\n");
        for (text, mode, key_mode, count) in [
            (&secret, 0o644, 0o644, 1),
            (&secret, 0o602, 0o644, 1),
            (&secret, 0o640, 0o644, 0),
            (&plain, 0o644, 0o644, 0),
            (&named, 0o644, 0o644, 1),
            (&named, 0o644, 0o600, 0),
        ] {
            for (file, mode) in [(&file, mode), (&key, key_mode)] {
                fs::write(file, text).expect("written");
                fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("set");
            }
            assert_eq!(
                notes(&file, text).len(),
                count,
                "{text} {mode:o} {key_mode:o}"
            );
        }
    }
}
