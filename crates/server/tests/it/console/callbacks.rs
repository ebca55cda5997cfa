//! The callbacks of an account in the console: dead ones, their replay, and the secrets that sign.

use super::{Browser, leads_to, member};
use crate::kit::http::Answer;
use crate::kit::receiver::{Reaction, Receiver};
use crate::kit::{AIRTEL, MTN, Ogene, to, until, with};
use domain::user::role::Role;
use serde_json::json;

const ATTEMPTS: &str = "/console/callbacks";
const DEAD: &str = "/console/callbacks/dead";
const REPLAY: &str = "/console/callbacks/replay";
const SECRETS: &str = "/console/callbacks/secrets";
const NEW_SECRET: &str = "/console/callbacks/secrets/new";
const ALL_DEAD: &str = "/operator/callbacks";

fn has(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

fn lacks(page: &Answer, part: &str) {
    assert!(!page.text().contains(part), "{part}: {}", page.text());
}

/// Returns the text between two marks of a page.
fn between(page: &Answer, start: &str, end: &str) -> String {
    let found = page.text().split_once(start);
    let (_, rest) = found.unwrap_or_else(|| panic!("{start}: {}", page.text()));
    rest.split(end).next().expect("an end").to_owned()
}

async fn sent(ogene: &Ogene, number: &str, receiver: &Receiver) -> String {
    let text = format!("Call {}", receiver.calls().len());
    let callback = json!({"callback_url": receiver.url});
    ogene.sent_id(with(to(number, &text), callback)).await
}

/// Sends a message whose callback is refused. Returns its id once the page lists it as dead.
async fn dead(ogene: &Ogene, number: &str, receiver: &Receiver, owner: &mut Browser) -> String {
    receiver.react([Reaction::Status(404)]);
    let id = sent(ogene, number, receiver).await;
    until("the callback is dead", async || {
        owner.get(DEAD).await.text().contains(&id).then_some(())
    })
    .await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_callback_is_replayed_by_its_account_alone() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let shop = Some(ogene.shop.id);
    let (mut developer, _) = member(&ogene, shop, Role::Developer).await;
    let (mut viewer, _) = member(&ogene, shop, Role::Viewer).await;
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    has(&developer.get(DEAD).await, &["No dead callbacks"]);
    let id = dead(&ogene, MTN, &receiver, &mut developer).await;
    has(
        &developer.get(DEAD).await,
        &[MTN, "delivrd", "Replay all", "name=\"message\""],
    );
    has(&developer.get(ATTEMPTS).await, &[&id, MTN, "404"]);
    has(
        &developer.get("/console/").await,
        &["1 callback was given up"],
    );

    let page = viewer.get(DEAD).await;
    has(&page, &[&id]);
    lacks(&page, "Replay");
    let fields = [("message", &*id)];
    let refused = viewer.send(DEAD, REPLAY, &fields).await;
    assert_eq!(refused.status, 403);
    lacks(&rival.get(DEAD).await, &id);
    lacks(&rival.get(ATTEMPTS).await, &id);
    leads_to(&rival.send(DEAD, REPLAY, &fields).await, DEAD);
    has(&rival.get(DEAD).await, &["no such dead callback"]);
    assert_eq!(receiver.calls().len(), 1, "nobody has replayed it");

    leads_to(&developer.send(DEAD, REPLAY, &fields).await, DEAD);
    has(
        &developer.get(DEAD).await,
        &["1 callback queued again", "No dead callbacks"],
    );
    let calls = receiver.called(2).await;
    assert_eq!(calls[0].text, calls[1].text);
    leads_to(&developer.send(DEAD, REPLAY, &fields).await, DEAD);
    has(&developer.get(DEAD).await, &["no such dead callback"]);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_replays_the_dead_callbacks_of_a_receiver() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    for number in [MTN, AIRTEL] {
        dead(&ogene, number, &receiver, &mut owner).await;
    }
    let figure = format!("href=\"{ALL_DEAD}\"><span class=\"figure-label\">Dead callbacks</span> ");
    let overview = operator.get("/operator/").await;
    let value = between(&overview, &figure, "</span>");
    assert_eq!(value, "<span class=\"figure-value\">2");
    let page = operator.get(ALL_DEAD).await;
    let (account, origin) = (
        ogene.shop.id.to_string(),
        between(&page, "name=\"origin\" value=\"", "\""),
    );
    has(&page, &[&account, "Replay 2 callbacks?"]);
    assert_eq!(origin, format!("http://127.0.0.1:{}", receiver.port));
    // The rest of the address may have a password of the receiver.
    lacks(&page, "s3cret");
    let replay = "/operator/callbacks/replay";
    let fields = [("account", &*account), ("origin", &*origin)];
    leads_to(
        &operator.send(ALL_DEAD, replay, &fields[..1]).await,
        ALL_DEAD,
    );
    has(
        &operator.get(ALL_DEAD).await,
        &["Choose a receiver.", &origin],
    );
    leads_to(&operator.send(ALL_DEAD, replay, &fields).await, ALL_DEAD);
    has(
        &operator.get(ALL_DEAD).await,
        &["2 callbacks queued again", "No dead callbacks"],
    );
    assert_eq!(receiver.called(4).await.len(), 4);
    ogene.end().await;
}

/// Makes a secret, and returns it as the page shows it once.
async fn made(developer: &mut Browser, overlap: &str) -> String {
    let fields = [("overlap", overlap)];
    leads_to(&developer.send(NEW_SECRET, SECRETS, &fields).await, SECRETS);
    let page = developer.get(SECRETS).await;
    has(&page, &["The new secret", "shown once"]);
    let secret = between(&page, "<code id=\"secret\" class=\"mono\">", "<");
    assert!(secret.starts_with("whsec_"), "a secret");
    lacks(&developer.get(SECRETS).await, &secret);
    secret
}

/// Sends until a callback has so many signatures.
async fn signed(ogene: &Ogene, receiver: &Receiver, count: usize) {
    until("the secrets sign", async || {
        let before = receiver.calls().len();
        sent(ogene, MTN, receiver).await;
        let call = receiver.called(before + 1).await.remove(before);
        let header = call.headers.get("webhook-signature");
        let text = header.map_or("", |value| value.to_str().expect("text"));
        (text.split_whitespace().count() == count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_callbacks_are_shown_once_and_revoked() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let shop = Some(ogene.shop.id);
    let (mut developer, _) = member(&ogene, shop, Role::Developer).await;
    let (mut viewer, _) = member(&ogene, shop, Role::Viewer).await;
    has(&viewer.get(SECRETS).await, &["Callbacks are not signed"]);
    let fields = [("overlap", "7")];
    let refused = developer.send(NEW_SECRET, SECRETS, &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    let first = made(&mut developer, "24").await;
    signed(&ogene, &receiver, 1).await;
    let second = made(&mut developer, "24").await;
    assert_ne!(first, second);
    signed(&ogene, &receiver, 2).await;

    let page = developer.get(SECRETS).await;
    let id = between(&page, "name=\"secret\" value=\"", "\"");
    assert!(id.starts_with("sec_"), "{id}");
    let page = viewer.get(SECRETS).await;
    has(&page, &[&id]);
    for part in ["Revoke</button>", "Create a secret", &first, &second] {
        lacks(&page, part);
    }
    let revoke = "/console/callbacks/secrets/revoke";
    let fields = [("secret", &*id)];
    assert_eq!(viewer.send(SECRETS, revoke, &fields).await.status, 403);
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    assert_eq!(rival.send(SECRETS, revoke, &fields).await.status, 404);
    leads_to(&developer.send(SECRETS, revoke, &fields).await, SECRETS);
    let page = developer.get(SECRETS).await;
    has(&page, &["The secret was revoked."]);
    lacks(&page, &id);
    signed(&ogene, &receiver, 1).await;
    assert_eq!(developer.send(SECRETS, revoke, &fields).await.status, 404);
    let rest = between(&page, "name=\"secret\" value=\"", "\"");
    let fields = [("secret", &*rest)];
    leads_to(&developer.send(SECRETS, revoke, &fields).await, SECRETS);
    has(&developer.get(SECRETS).await, &["Callbacks are not signed"]);
    signed(&ogene, &receiver, 0).await;
    ogene.end().await;
}
