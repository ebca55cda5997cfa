//! Forms of other sites, headers against frames, and hostile texts.

use super::{Browser, ORIGIN, leads_to, member, token};
use crate::kit::Ogene;
use crate::kit::http::Request;
use domain::user::role::Role;

const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}";

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_another_site_changes_nothing() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let token = token(&browser.get("/console/profile").await);
    let (mut other, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let foreign = self::token(&other.get("/console/profile").await);
    let path = "/console/profile/name";
    let form = |token: &str| {
        let fields = [("name", "Mallory"), ("csrf_token", token)];
        Request::post(path).form(&fields)
    };
    for (request, status) in [
        (form(&token), 403),
        (form(&token).header("Origin", "https://evil.example"), 403),
        (form(&token).header("Origin", "null"), 403),
        (form(&token).header("Sec-Fetch-Site", "cross-site"), 403),
        (form(&token).header("Sec-Fetch-Site", "same-site"), 403),
        (form("").header("Origin", ORIGIN), 403),
        (form(&foreign).header("Origin", ORIGIN), 403),
        (
            Request::post(path)
                .header("Origin", ORIGIN)
                .json(&serde_json::json!({ "name": "Mallory" })),
            415,
        ),
        (
            Request::get(&format!("{path}?name=Mallory&csrf_token={token}")),
            405,
        ),
    ] {
        assert_eq!(browser.ask(request).await.status, status);
    }
    assert!(
        !browser
            .get("/console/profile")
            .await
            .text()
            .contains("Mallory")
    );
    leads_to(
        &browser.ask(form(&token).header("Origin", ORIGIN)).await,
        "/console/profile",
    );
    assert!(
        browser
            .get("/console/profile")
            .await
            .text()
            .contains("Mallory")
    );
    // A sign-in is a form as well: nobody is signed in as somebody else unnoticed.
    let fields = [
        ("email", "a@example.ng"),
        ("password", "x"),
        ("csrf_token", &token),
    ];
    let planted = Browser::new(&ogene).post("/sign-in", &fields).await;
    assert_eq!(planted.status, 403);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_forbids_frames_caches_and_foreign_code() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let page = browser.get("/console/").await;
    let style = page
        .text()
        .split("href=\"")
        .find(|part| part.contains(".css"));
    let style = style
        .and_then(|part| part.split('"').next())
        .expect("a style sheet")
        .to_owned();
    for path in [
        "/console/",
        "/console/team",
        "/sign-in/code",
        "/console/nothing",
        "/links/x",
        &style,
    ] {
        let answer = browser.get(path).await;
        let header = |name| {
            answer
                .header(name)
                .unwrap_or_else(|| panic!("{path} {name}"))
        };
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"));
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "same-origin");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        let caching = header("cache-control");
        assert_eq!(
            caching.contains("immutable"),
            path == style,
            "{path} {caching}"
        );
        assert!(path == style || caching == "no-store");
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_name_is_shown_and_never_run() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let named = browser
        .send(
            "/console/profile",
            "/console/profile/name",
            &[("name", HOSTILE)],
        )
        .await;
    leads_to(&named, "/console/profile");
    let fields = [("email", HOSTILE), ("role", HOSTILE)];
    let invited = browser
        .send("/console/team", "/console/team/invite", &fields)
        .await;
    let agent = Request::get("/console/profile").header("User-Agent", HOSTILE);
    let mut pages = vec![invited, browser.ask(agent).await];
    for path in [
        "/console/",
        "/console/team",
        "/console/profile",
        "/console/profile/second-factor",
    ] {
        pages.push(browser.get(path).await);
    }
    pages.push(Browser::new(&ogene).sign_in(HOSTILE, HOSTILE).await);
    let next = Browser::new(&ogene)
        .get("/sign-in?next=%2Fconsole%22%3E%3Cscript%3E")
        .await;
    pages.push(next);
    for page in pages {
        for run in ["<script>alert", "<img src=x", "<script>\"", ">49<"] {
            assert!(!page.text().contains(run), "{}", page.text());
        }
    }
    ogene.end().await;
}
