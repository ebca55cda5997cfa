//! Top-ups and alerts of customers in the console.

use super::{Browser, leads_to, member};
use crate::kit::http::{Answer, Request};
use crate::kit::provider::{Kind, Provider};
use crate::kit::{Ogene, Setup};
use domain::user::role::Role;

const PATH: &str = "/console/top-ups";
const NEW: &str = "/console/top-ups/new";
const ALERTS: &str = "/console/alerts";

fn has(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

/// Returns the value of a hidden field.
fn hidden(page: &Answer, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let found = page.text().split_once(&start);
    let (_, rest) = found.unwrap_or_else(|| panic!("{name}: {}", page.text()));
    rest.split('"').next().expect("an end").to_owned()
}

/// An installation whose provider is asked for payments once an hour, and that browsers reach at
/// the address of these tests.
async fn start() -> (Provider, Ogene) {
    let provider = Provider::start(Kind::Paystack).await;
    let setup = provider.of(Setup::new());
    let setup = setup
        .set("http.public_url", r#""http://localhost""#)
        .set("payments.sweep", r#""1h""#)
        .set("payments.bonus", r#"[{ from = "2000.00", percent = "5" }]"#);
    (provider, setup.start().await)
}

/// Makes a top-up of 1,000 naira by the forms. Returns its address.
async fn made(browser: &mut Browser) -> String {
    let fields = [("amount", "1000.00")];
    let review = browser.send(NEW, &format!("{PATH}/review"), &fields).await;
    has(
        &review,
        &["Top up ₦1,000.00?", "₦75.00 (7.5 %)", "₦1,075.00"],
    );
    let key = hidden(&review, "key");
    let fields = [("amount", "1000.00"), ("key", &key)];
    let first = browser.send(NEW, PATH, &fields).await;
    assert_eq!(first.status, 303, "{}", first.text());
    let path = first.header("location").expect("a page").to_owned();
    // The same form again is the same top-up.
    leads_to(&browser.send(NEW, PATH, &fields).await, &path);
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_pays_and_the_page_follows_the_payment() {
    let (provider, ogene) = start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    has(&owner.get(PATH).await, &["No top-ups yet", NEW]);
    let path = made(&mut owner).await;
    assert_eq!(provider.created().len(), 1, "a form makes one top-up");
    let id = path.rsplit('/').next().expect("an id").to_owned();
    let page = owner.get(&path).await;
    has(
        &page,
        &["Pending", "Pay ₦1,075.00", "part=state&#38;seen=pending"],
    );
    let checkout = owner.get(&format!("{path}/pay")).await;
    leads_to(&checkout, "https://checkout.example.com/page");
    leads_to(&owner.get(&format!("{path}/receipt")).await, &path);

    let poll = format!("{path}?part=state&seen=pending");
    assert_eq!(owner.get(&poll).await.status, 204);
    let reference = format!("ogene-{}", id.replace('-', ""));
    provider.pay(&reference, 107_500);
    let back = owner.get(&format!("/payments/return/{id}")).await;
    let list = format!("http://localhost{PATH}?top_up_id={id}&state=paid");
    leads_to(&back, &list);
    leads_to(&owner.get(&list["http://localhost".len()..]).await, &path);
    assert_eq!(owner.get(&poll).await.header("hx-refresh"), Some("true"));
    let page = owner.get(&path).await;
    has(&page, &["Paid", "The wallet has the credit", "/receipt"]);
    assert!(!page.text().contains("/pay\""), "{}", page.text());
    let receipt = owner.get(&format!("{path}/receipt")).await;
    has(&receipt, &["Receipt 1", "75.00", &reference]);
    let policy = receipt.header("content-security-policy").expect("a policy");
    assert!(policy.contains("style-src 'sha256-"), "{policy}");
    has(&owner.get("/console/wallet").await, &["₦1,000.00", NEW]);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_price_follows_the_amount_and_a_wrong_one_is_explained() {
    let (provider, ogene) = start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let price = format!("{PATH}/price");
    for (amount, parts) in [
        ("1000", ["₦1,075<", "From ₦2,000.00 on, 5 %"]),
        ("2000", ["₦2,150<", "₦100<"]),
        ("", ["Type an amount", "id=\"counter\""]),
        ("\"><b>", ["amount in naira", "id=\"counter\""]),
    ] {
        let counter = owner.send(NEW, &price, &[("amount", amount)]).await;
        has(&counter, &parts);
        assert!(!counter.text().contains("<b>"), "{}", counter.text());
    }
    for path in [format!("{PATH}/review"), PATH.to_owned()] {
        let refused = owner.send(NEW, &path, &[("amount", "499.99")]).await;
        assert_eq!(refused.status, 422);
        assert!(refused.text().contains("at least 500.00"));
    }
    provider.be(crate::kit::provider::Mood::Down);
    let down = owner.send(NEW, PATH, &[("amount", "1000")]).await;
    assert_eq!(down.status, 422);
    assert!(down.text().contains("does not answer"), "{}", down.text());
    has(&owner.get(PATH).await, &["No top-ups yet"]);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn others_see_a_top_up_of_the_account_and_cannot_pay() {
    let (_provider, ogene) = start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let path = made(&mut owner).await;
    for role in [Role::Developer, Role::Viewer] {
        let (mut browser, _) = member(&ogene, Some(ogene.shop.id), role).await;
        has(&browser.get(PATH).await, &["Owners of the account", &path]);
        let page = browser.get(&path).await;
        has(&page, &["Pending", "₦1,075"]);
        assert!(!page.text().contains("/pay\""), "{}", page.text());
        for refused in [NEW, &format!("{path}/pay"), &format!("{ALERTS}/new")] {
            assert_eq!(browser.get(refused).await.status, 403, "{refused}");
        }
        let wallet = browser.get("/console/wallet").await;
        assert!(!wallet.text().contains(NEW), "{}", wallet.text());
    }
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    let id = path.rsplit('/').next().expect("an id");
    let back = format!("{PATH}?top_up_id={id}");
    let further = ["", "/pay", "/receipt", "?part=state&seen=paid"];
    for page in further.map(|last| format!("{path}{last}")) {
        assert_eq!(rival.get(&page).await.status, 404, "{page}");
    }
    assert_eq!(rival.get(&back).await.status, 404);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_provider_the_page_refers_to_the_operator() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    has(
        &owner.get(PATH).await,
        &["takes no payments online", "Ask the operator"],
    );
    leads_to(&owner.get(NEW).await, PATH);
    let sandbox = [("environment", "sandbox")];
    owner.send(PATH, "/console/environment", &sandbox).await;
    let before = ogene.total().await;
    let path = made(&mut owner).await;
    let checkout = owner.get(&format!("{path}/pay")).await;
    let page = checkout.header("location").expect("a page").to_owned();
    let page = &page[page.find("/payments/sandbox/").expect("our page")..];
    has(&owner.get(page).await, &["Simulated payment"]);
    assert_eq!(owner.ask(Request::post(page)).await.status, 303);
    has(&owner.get(&path).await, &["Paid", "no money moved"]);
    has(&owner.get(&format!("{path}/receipt")).await, &["Receipt 1"]);
    assert!((ogene.total().await - before).abs() < 1e-9);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_added_and_removed_by_owners() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let new = format!("{ALERTS}/new");
    has(&owner.get(ALERTS).await, &["No alerts yet", &new]);
    let fields = [("threshold", "0"), ("url", "https://shop.example.ng/low")];
    let refused = owner.send(&new, ALERTS, &fields).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("above 0"), "{}", refused.text());
    let fields = [
        ("threshold", "5000"),
        ("url", "https://shop.example.ng/?a=<b>"),
    ];
    leads_to(&owner.send(&new, ALERTS, &fields).await, ALERTS);
    let page = viewer.get(ALERTS).await;
    has(&page, &["₦5,000.00", "?a=&#60;b&#62;", "Below"]);
    assert!(!page.text().contains("Remove"), "a viewer changes nothing");
    let page = owner.get(ALERTS).await;
    let before = page.text().split("/remove\"").next().expect("an alert");
    let id = before.rsplit('/').next().expect("an id").to_owned();
    let remove = format!("{ALERTS}/{id}/remove");
    assert_eq!(viewer.send(ALERTS, &remove, &[]).await.status, 403);
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    assert_eq!(rival.send(ALERTS, &remove, &[]).await.status, 404);
    leads_to(&owner.send(ALERTS, &remove, &[]).await, ALERTS);
    has(&owner.get(ALERTS).await, &["No alerts yet"]);

    let sandbox = [("environment", "sandbox")];
    owner.send(ALERTS, "/console/environment", &sandbox).await;
    has(&owner.get(ALERTS).await, &["about the live wallet"]);
    let fields = [("threshold", "5"), ("url", "https://shop.example.ng/")];
    assert_eq!(owner.send(&new, ALERTS, &fields).await.status, 422);
    ogene.end().await;
}
