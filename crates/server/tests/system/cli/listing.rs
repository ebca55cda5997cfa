//! Lists of the commands: all rows by default, or page by page.

use crate::installation::Installation;
use serde_json::Value;

fn account(ogene: &Installation, name: &str) -> String {
    let line = ["account", "create", "--email", "a@example.ng", "--name"];
    let account = ogene.json(&[&line[..], &[name]].concat());
    account["user_id"].as_str().expect("an id").to_owned()
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("a list").iter();
    items
        .map(|item| item["name"].as_str().expect("a name"))
        .collect()
}

#[test]
fn a_list_goes_on_behind_its_cursor_whatever_is_added() {
    let ogene = Installation::new();
    for name in ["One", "Two", "Three", "Four", "Five"] {
        account(&ogene, name);
    }
    let all = ogene.json(&["account", "list"]);
    assert_eq!(names(&all), ["Five", "Four", "Three", "Two", "One"]);
    assert_eq!(all["next_cursor"], Value::Null);

    let page = ogene.json(&["account", "list", "--limit", "2"]);
    assert_eq!(names(&page), ["Five", "Four"]);
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    account(&ogene, "Six");
    let second = ["account", "list", "--limit", "2", "--cursor", cursor];
    let page = ogene.json(&second);
    assert_eq!(names(&page), ["Three", "Two"]);
    let rest = ogene.json(&["account", "list", "--cursor", cursor]);
    assert_eq!(names(&rest), ["Three", "Two", "One"]);
    assert_eq!(rest["next_cursor"], Value::Null);

    // The text for people has the same cursor below the table.
    let output = ogene.run(&second);
    let [shown, hint] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(shown.lines().count(), 3, "{shown}");
    let next = page["next_cursor"].as_str().expect("a cursor");
    assert_eq!(hint, format!("More rows: --cursor {next}\n"));
    let output = ogene.run(&["account", "list", "--limit", "1000"]);
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_cursor_of_another_list_is_refused_with_advice() {
    let ogene = Installation::new();
    let (one, two) = (account(&ogene, "One"), account(&ogene, "Two"));
    for name in ["web", "app"] {
        ogene.json(&["token", "create", "--account", &one, "--name", name]);
    }
    let page = ogene.json(&["token", "list", "--account", &one, "--limit", "1"]);
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let cut = &cursor[..cursor.len() - 1];
    for line in [
        vec!["token", "list", "--account", &two, "--cursor", cursor],
        vec!["token", "list", "--cursor", cursor],
        vec!["token", "list", "--account", &one, "--cursor", cut],
        vec!["account", "list", "--cursor", cursor],
        vec!["audit", "--cursor", "x"],
    ] {
        let (code, message) = ogene.failure(&line);
        assert_eq!(code, Some(2), "{line:?}: {message}");
        assert!(
            message.contains("leave it out for the first page"),
            "{message}"
        );
    }
    let rest = ["token", "list", "--account", &one, "--cursor", cursor];
    assert_eq!(ogene.rows(&rest)[0]["name"], "web");
}

#[test]
fn each_list_takes_a_limit_and_ends() {
    let ogene = Installation::new();
    ogene.configure("[content]\nprohibited = [\"double your money\"]\n");
    let one = account(&ogene, "One");
    ogene.json(&["content", "add", "casino"]);
    let of = ["--account", &one];
    for (line, of) in [
        ("account list", &[][..]),
        ("token list", &[]),
        ("smpp-user list", &[]),
        ("sender-id list", &[]),
        ("sub-account list", &of),
        ("wallet statement", &of),
        ("callback dead", &[]),
        ("callback dead", &of),
        ("callback attempts", &of),
        ("callback secret list", &[]),
        ("content list", &[]),
        ("velocity list", &[]),
        ("audit", &[]),
    ] {
        let words: Vec<&str> = line.split(' ').chain(of.iter().copied()).collect();
        let all = ogene.rows(&words);
        let mut found = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut page = [&words[..], &["--limit", "1"]].concat();
            page.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor]));
            let page = ogene.json(&page);
            found.extend(page["items"].as_array().expect("a list").clone());
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, all, "{line}");
        let table = ogene.run(&words);
        let lines = String::from_utf8(table.stdout).expect("text");
        assert_eq!(lines.lines().count(), all.len() + 1, "{lines}");
    }
}
