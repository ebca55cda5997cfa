//! Passkeys over HTTP: added, used and removed, and what an attacker tries.

use super::passkey_answers::{Authenticator, PRESENT};
use super::{Browser, PASSWORD, leads_to, member, token, with_password};
use crate::kit::http::Answer;
use crate::kit::{Ogene, Setup, operations};
use domain::user::UserStatus;
use domain::user::role::Role;
use serde_json::{Value, json};

const PROFILE: &str = "/console/profile";
const ADA: &str = "ada@example.ng";

/// A change that makes the answers of an authenticator wrong.
type Spoil = fn(&mut Authenticator);

async fn with_passkeys() -> Ogene {
    let setup = Setup::new().set("http.public_url", r#""http://localhost""#);
    setup.start().await
}

/// A user with a password, in a browser that is signed in.
async fn signed_in(ogene: &Ogene, email: &str) -> Browser {
    with_password(ogene, email, Some(ogene.shop.id), Role::Owner).await;
    let mut browser = Browser::new(ogene);
    leads_to(&browser.sign_in(email, PASSWORD).await, "/console/");
    browser
}

/// Begins a passkey with a name. Returns the page with the options.
async fn begun(browser: &mut Browser, name: &str, password: &str) -> Answer {
    let fields = [("passkey_name", name), ("passkey_password", password)];
    let path = "/console/profile/passkeys/begin";
    browser.send(PROFILE, path, &fields).await
}

fn options(page: &Answer) -> Value {
    let part = page
        .text()
        .split("data-options=\"")
        .nth(1)
        .expect("options");
    let json = part
        .split('"')
        .next()
        .expect("an end")
        .replace("&#34;", "\"");
    serde_json::from_str(&json).expect("JSON")
}

async fn give(browser: &mut Browser, page: &Answer, name: &str, answer: &str) -> Answer {
    let csrf = token(page);
    let fields = [
        ("passkey_name", name),
        ("answer", answer),
        ("csrf_token", &csrf),
    ];
    browser.post("/console/profile/passkeys", &fields).await
}

/// Adds a passkey of an authenticator.
async fn added(browser: &mut Browser, authenticator: &mut Authenticator, name: &str) {
    let page = begun(browser, name, PASSWORD).await;
    let answer = authenticator.make(&options(&page));
    leads_to(&give(browser, &page, name, &answer).await, PROFILE);
    let profile = browser.get(PROFILE).await;
    let text = profile.text();
    assert!(text.contains("The passkey was added"), "{text}");
    assert!(text.contains(&format!("<td>{name}</td>")), "{text}");
}

/// Begins a sign-in by passkey. Returns the options, and the token of the form.
async fn asked(browser: &mut Browser) -> (Value, String) {
    let csrf = token(&browser.get("/sign-in").await);
    let fields = [("csrf_token", csrf.as_str())];
    let begun = browser.post("/sign-in/passkey/begin", &fields).await;
    assert_eq!(begun.status, 200, "{}", begun.text());
    assert_eq!(begun.header("content-type"), Some("application/json"));
    (begun.json(), csrf)
}

async fn answered(browser: &mut Browser, csrf: &str, answer: &str) -> Answer {
    let fields = [("answer", answer), ("csrf_token", csrf)];
    browser.post("/sign-in/passkey", &fields).await
}

/// Signs in by a passkey in a new browser.
async fn entered(ogene: &Ogene, authenticator: &mut Authenticator) -> (Browser, Answer) {
    let mut browser = Browser::new(ogene);
    let (options, csrf) = asked(&mut browser).await;
    let answer = authenticator.sign(&options);
    let entered = answered(&mut browser, &csrf, &answer).await;
    (browser, entered)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_added_used_and_removed() {
    let ogene = with_passkeys().await;
    let mut browser = signed_in(&ogene, ADA).await;
    let mut elsewhere = Browser::new(&ogene);
    elsewhere.sign_in(ADA, PASSWORD).await;
    let before = browser.session();
    let mut phone = Authenticator::new(1);
    added(&mut browser, &mut phone, "Phone").await;
    // The rights have changed: other sessions end, and this one has a new secret.
    assert_ne!(browser.session(), before);
    assert_eq!(elsewhere.get("/console/").await.status, 303);
    let (mut signed_in, answer) = entered(&ogene, &mut phone).await;
    leads_to(&answer, "/console/");
    let page = signed_in.get(PROFILE).await;
    assert!(page.text().contains(ADA) && !page.text().contains("Never"));
    let id = page.text().split("<option value=\"").nth(1).expect("an id");
    let id = id.split('"').next().expect("an end").to_owned();
    let remove = "/console/profile/passkeys/remove";
    let fields = |password| [("passkey", id.as_str()), ("removal_password", password)];
    signed_in.send(PROFILE, remove, &fields("wrong")).await;
    let refused = signed_in.get(PROFILE).await;
    assert!(refused.text().contains("The password is wrong."));
    assert_eq!(browser.get("/console/").await.status, 200);
    signed_in.send(PROFILE, remove, &fields(PASSWORD)).await;
    let removed = signed_in.get(PROFILE).await;
    assert!(removed.text().contains("The passkey was removed"));
    assert_eq!(browser.get("/console/").await.status, 303);
    let (_, refused) = entered(&ogene, &mut phone).await;
    assert!(refused.status == 422 && refused.text().contains("was not accepted"));
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let audit = operator.get("/operator/audit").await;
    for verb in ["user.add-passkey", "user.remove-passkey", "user.sign-in"] {
        assert!(audit.text().contains(verb), "{verb}");
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_needs_no_code_and_no_wrong_password_delays_it() {
    let ogene = with_passkeys().await;
    let mut browser = signed_in(&ogene, ADA).await;
    let mut phone = Authenticator::new(1);
    added(&mut browser, &mut phone, "Phone").await;
    let page = "/console/profile/second-factor";
    let shown = browser.get(page).await;
    let key = shown.text().split("secret=").nth(1).expect("a key");
    assert!(!key.is_empty());
    ogene.sql("update users set totp_step = 1 where email = 'ada@example.ng'");
    for _ in 0..8 {
        Browser::new(&ogene).sign_in(ADA, "wrong").await;
    }
    let slowed = Browser::new(&ogene).sign_in(ADA, PASSWORD).await;
    assert_eq!(slowed.status, 429);
    let (mut browser, answer) = entered(&ogene, &mut phone).await;
    leads_to(&answer, "/console/");
    assert_eq!(browser.get("/console/").await.status, 200);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_is_good_once_in_its_browser_and_its_time() {
    let ogene = with_passkeys().await;
    let mut browser = signed_in(&ogene, ADA).await;
    let mut phone = Authenticator::new(1);
    added(&mut browser, &mut phone, "Phone").await;
    let mut victim = Browser::new(&ogene);
    let (first, csrf) = asked(&mut victim).await;
    let answer = phone.sign(&first);
    // Another browser has the answer, and a challenge of its own.
    let mut thief = Browser::new(&ogene);
    let (_, other) = asked(&mut thief).await;
    assert_eq!(answered(&mut thief, &other, &answer).await.status, 422);
    leads_to(&answered(&mut victim, &csrf, &answer).await, "/console/");
    // A replay, by the same browser and the one of the thief.
    for (browser, csrf) in [(&mut victim, &csrf), (&mut thief, &other)] {
        browser.cookies.remove("ogene");
        let replayed = answered(browser, csrf, &answer).await;
        assert_eq!(replayed.status, 422, "{}", replayed.text());
        assert_eq!(browser.session(), "");
    }
    // A refused answer uses the challenge up as well.
    let (second, csrf) = asked(&mut victim).await;
    phone.origin = "http://evil.example";
    let foreign = phone.sign(&second);
    assert_eq!(answered(&mut victim, &csrf, &foreign).await.status, 422);
    phone.origin = "http://localhost";
    let late = phone.sign(&second);
    assert_eq!(answered(&mut victim, &csrf, &late).await.status, 422);
    let (third, csrf) = asked(&mut victim).await;
    let late = phone.sign(&third);
    ogene.clock.set(ogene.clock.now_ms() + 6 * 60_000);
    let refused = answered(&mut victim, &csrf, &late).await;
    assert!(refused.status == 422 && refused.text().contains("took too long"));
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_another_site_or_without_its_user_is_refused() {
    let ogene = with_passkeys().await;
    let mut browser = signed_in(&ogene, ADA).await;
    let mut phone = Authenticator::new(1);
    added(&mut browser, &mut phone, "Phone").await;
    let spoils: [(&str, Spoil); 6] = [
        ("origin", |one| one.origin = "https://evil.example"),
        ("port", |one| one.origin = "http://localhost:8080"),
        ("scheme", |one| one.origin = "https://localhost"),
        ("site", |one| one.site = "evil.example"),
        ("frame", |one| one.is_cross_origin = true),
        ("user", |one| one.flags = PRESENT),
    ];
    for (what, spoil) in spoils {
        spoil(&mut phone);
        // Each delay is over.
        ogene.clock.set(ogene.clock.now_ms() + 16 * 60_000);
        let (browser, refused) = entered(&ogene, &mut phone).await;
        assert_eq!(
            (refused.status, browser.session()),
            (422, String::new()),
            "{what}"
        );
        phone.mend();
    }
    ogene.clock.set(ogene.clock.now_ms() + 16 * 60_000);
    // The answer to the creation of a passkey is none to a sign-in.
    let mut browser = Browser::new(&ogene);
    let (options, csrf) = asked(&mut browser).await;
    let made = phone.sign_as("webauthn.create", &options);
    assert_eq!(answered(&mut browser, &csrf, &made).await.status, 422);
    for broken in ["", "{}", "null", "[", &"[".repeat(10_000), &made[..40]] {
        let (_, csrf) = asked(&mut browser).await;
        let refused = answered(&mut browser, &csrf, broken).await;
        assert_eq!(refused.status, 422, "{}", &broken[..broken.len().min(40)]);
    }
    ogene.clock.set(ogene.clock.now_ms() + 16 * 60_000);
    let (_, right) = entered(&ogene, &mut phone).await;
    leads_to(&right, "/console/");
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_signs_in_its_own_user_with_its_own_key() {
    let ogene = with_passkeys().await;
    let (mut ada, mut eve) = (Authenticator::new(1), Authenticator::new(2));
    let mut browser = signed_in(&ogene, ADA).await;
    added(&mut browser, &mut ada, "Phone").await;
    let mut other = signed_in(&ogene, "eve@example.ng").await;
    added(&mut other, &mut eve, "Key").await;
    // The handle of another user, the id of another user's passkey, and both.
    let (own_handle, own_id) = (eve.handle.clone(), eve.credential.clone());
    for (handle, id) in [
        (&ada.handle, &own_id),
        (&own_handle, &ada.credential),
        (&ada.handle, &ada.credential),
    ] {
        (eve.handle, eve.credential) = (handle.clone(), id.clone());
        let (browser, refused) = entered(&ogene, &mut eve).await;
        assert_eq!((refused.status, browser.session()), (422, String::new()));
    }
    (eve.handle, eve.credential) = (own_handle, own_id);
    // A copy of the authenticator has an old counter.
    leads_to(&entered(&ogene, &mut eve).await.1, "/console/");
    eve.counter -= 1;
    assert_eq!(entered(&ogene, &mut eve).await.1.status, 422);
    leads_to(&entered(&ogene, &mut eve).await.1, "/console/");
    eve.forge();
    assert_eq!(entered(&ogene, &mut eve).await.1.status, 422);
    // A disabled user has no way in, and an operator removes the passkeys of a user.
    let store = ogene.store().await;
    let users = || operations(&store).users();
    for status in [UserStatus::Disabled, UserStatus::Active] {
        users().set_status(ADA, status).await.expect("changed");
        let expected = if status == UserStatus::Active {
            303
        } else {
            422
        };
        assert_eq!(entered(&ogene, &mut ada).await.1.status, expected);
    }
    users().remove_passkeys(ADA).await.expect("removed");
    assert_eq!(entered(&ogene, &mut ada).await.1.status, 422);
    store.close().await;
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_added_with_the_password_by_its_own_session() {
    let ogene = with_passkeys().await;
    let mut browser = signed_in(&ogene, ADA).await;
    let mut phone = Authenticator::new(1);
    let refused = begun(&mut browser, "Phone", "wrong").await;
    leads_to(&refused, PROFILE);
    leads_to(&begun(&mut browser, " ", PASSWORD).await, PROFILE);
    // Without the step of the password there is no challenge.
    let profile = browser.get(PROFILE).await;
    let guessed = json!({ "challenge": "A".repeat(22), "user": { "id": "A".repeat(11) } });
    let made = phone.make(&guessed);
    give(&mut browser, &profile, "Phone", &made).await;
    assert!(browser.get(PROFILE).await.text().contains("took too long"));
    // A foreign origin, and the challenge of another user.
    let page = begun(&mut browser, "Phone", PASSWORD).await;
    phone.origin = "https://evil.example";
    let made = phone.make(&options(&page));
    give(&mut browser, &page, "Phone", &made).await;
    assert!(
        browser
            .get(PROFILE)
            .await
            .text()
            .contains("was not accepted")
    );
    phone.origin = "http://localhost";
    let page = begun(&mut browser, "Phone", PASSWORD).await;
    let made = phone.make(&options(&page));
    let mut eve = signed_in(&ogene, "eve@example.ng").await;
    let own = begun(&mut eve, "Mine", PASSWORD).await;
    give(&mut eve, &own, "Mine", &made).await;
    assert!(eve.get(PROFILE).await.text().contains("was not accepted"));
    leads_to(&give(&mut browser, &page, "Phone", &made).await, PROFILE);
    assert!(browser.get(PROFILE).await.text().contains("<td>Phone</td>"));
    // The same passkey belongs to no second user.
    let own = begun(&mut eve, "Mine", PASSWORD).await;
    let same = phone.make(&options(&own));
    give(&mut eve, &own, "Mine", &same).await;
    assert!(
        eve.get(PROFILE)
            .await
            .text()
            .contains("belongs to a user already")
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_answered_by_any_node() {
    let ogene = with_passkeys().await;
    let Some(other) = ogene.join().await else {
        return ogene.end().await;
    };
    let mut browser = signed_in(&ogene, ADA).await;
    let mut phone = Authenticator::new(1);
    added(&mut browser, &mut phone, "Phone").await;
    let mut browser = Browser::new(&ogene);
    let (options, csrf) = asked(&mut browser).await;
    browser.address = other.address;
    let answer = phone.sign(&options);
    leads_to(&answered(&mut browser, &csrf, &answer).await, "/console/");
    other.stop().await;
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn passkeys_need_a_public_url_with_tls_or_localhost() {
    for url in [
        None,
        Some("http://sms.example.ng"),
        Some("https://203.0.113.9"),
    ] {
        let setup = Setup::new();
        let setup = match url {
            Some(url) => setup.set("http.public_url", &format!("{url:?}")),
            None => setup,
        };
        let ogene = setup.start().await;
        let mut browser = Browser::new(&ogene);
        let page = browser.get("/sign-in").await;
        assert!(!page.text().contains("passkey"), "{url:?}");
        let csrf = token(&page);
        let fields = [("csrf_token", csrf.as_str())];
        let begun = browser.post("/sign-in/passkey/begin", &fields).await;
        assert_eq!(begun.status, 422, "{url:?}");
        if url.is_none_or(|url| url.starts_with("http:")) {
            let mut browser = signed_in(&ogene, ADA).await;
            let profile = browser.get(PROFILE).await;
            assert!(
                profile
                    .text()
                    .contains("passkeys need <code>http.public_url</code>")
            );
        }
        ogene.end().await;
    }
}
