//! Tests of all screens: each keeps the rules of the design system, and shows its content.
//!
//! `OGENE_GALLERY=target/gallery cargo test -p console gallery` writes the screens with their
//! assets into a folder. Any web server shows them, such as `python3 -m http.server` in the folder.

mod samples;

use crate::{ASSETS, CONTENT_SECURITY_POLICY};
use regex::Regex;
use samples::{HOSTILE, all};
use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

/// Most bytes of HTML of a screen, so that a first load stays within 100 KB.
const MAX_SCREEN_BYTES: usize = 48 * 1024;

fn matches<'h>(pattern: &str, html: &'h str) -> Vec<&'h str> {
    let pattern = Regex::new(pattern).unwrap();
    pattern
        .find_iter(html)
        .map(|found| found.as_str())
        .collect()
}

#[test]
fn a_screen_has_no_inline_style_script_or_handler() {
    let value = Regex::new("\"[^\"]*\"|'[^']*'").unwrap();
    for (name, html) in all() {
        let bare = value.replace_all(&html, "\"\"");
        let inline = matches(
            r"<style|<script>|<script [^>]*>[^<]|<[^>]* (style|on\w+|hx-on[^=]*)=",
            &bare,
        );
        assert_eq!(inline, [""; 0], "{name}");
    }
}

#[test]
fn a_screen_loads_only_files_of_this_server() {
    for (name, html) in all() {
        for loaded in matches(r#" (src|href|action)="[^"]*""#, &html) {
            let path = loaded.split('"').nth(1).unwrap();
            // An authenticator app opens this address.
            let is_app = path.starts_with("otpauth://");
            let is_local = path.starts_with(['/', '?', '#']) && !path.starts_with("//");
            let is_local = is_local || is_app;
            assert!(is_local, "{name}: {loaded}");
        }
    }
}

#[test]
fn a_screen_has_one_first_heading_and_one_main_part() {
    for (name, html) in all() {
        if name == "overview-numbers" {
            continue;
        }
        for element in ["<h1", "<main", "<title>", "<html lang=\"en\""] {
            assert_eq!(html.matches(element).count(), 1, "{name} {element}");
        }
    }
}

#[test]
fn an_id_is_used_once_on_a_screen() {
    for (name, html) in all() {
        let ids = matches(r#" id="[^"]*""#, &html);
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{name} {ids:?}");
    }
}

#[test]
fn each_control_has_a_label() {
    for (name, html) in all() {
        for control in matches(r#"<(input|select|textarea) id="[^"]*""#, &html) {
            let id = control.split('"').nth(1).unwrap();
            assert!(html.contains(&format!("for=\"{id}\"")), "{name} {control}");
        }
    }
}

#[test]
fn each_form_that_changes_something_has_the_token() {
    for (name, html) in all() {
        let forms = matches(r"(?s)<form.*?</form>", &html);
        let posts = forms.iter().filter(|form| form.contains("method=\"post\""));
        for form in posts {
            assert!(form.contains("name=\"csrf_token\""), "{name} {form}");
        }
    }
}

#[test]
fn a_hostile_text_stays_a_text() {
    let (_, html) = all()
        .into_iter()
        .find(|(name, _)| *name == "hostile")
        .unwrap();
    assert!(
        !html.contains("<script>alert") && !html.contains("<img src=x"),
        "{html}"
    );
    assert!(html.matches("&#60;script&#62;").count() >= 10);
    assert!(!html.contains(HOSTILE));
}

#[test]
fn a_screen_is_at_most_48_kb() {
    for (name, html) in all() {
        assert!(html.len() <= MAX_SCREEN_BYTES, "{name}: {}", html.len());
    }
}

#[test]
fn the_gallery_is_written_where_it_is_asked_for() {
    let Some(folder) = env::var_os("OGENE_GALLERY") else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    fs::create_dir_all(folder.join("console/assets")).unwrap();
    for asset in ASSETS {
        let path = folder.join(&asset.path()[1..]);
        fs::write(&path, asset.content).unwrap();
        if let Some(gzip) = asset.gzip {
            fs::write(format!("{}.gz", path.display()), gzip).unwrap();
        }
    }
    fs::write(folder.join("policy"), CONTENT_SECURITY_POLICY).unwrap();
    for (name, html) in all() {
        fs::write(folder.join(format!("{name}.html")), html).unwrap();
    }
}
