//! The page of a message: its changes, a retry and its export, and the sandbox beside it.

use super::{Browser, leads_to, member, token};
use crate::kit::http::Answer;
use crate::kit::wire::{receipt, rule};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, to, until, with};
use domain::user::role::Role;
use jiff::{Timestamp, ToSpan};
use serde_json::json;
use smpp::ReceiptState;
use smpp::simulator::Script;

fn shows(page: &Answer, parts: &[&str]) {
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

async fn owner(ogene: &Ogene) -> Browser {
    member(ogene, Some(ogene.shop.id), Role::Owner).await.0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_message_is_cancelled_on_its_page() {
    let ogene = Ogene::start().await;
    let at = (Timestamp::now() + 3_600.seconds()).to_string();
    let fields = json!({ "to": [MTN, GLO], "send_at": at });
    let id = ogene.sent_id(with(to(MTN, "Later"), fields)).await;
    let (path, cancel) = (
        format!("/console/messages/{id}"),
        format!("/console/messages/{id}/cancel"),
    );
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let page = viewer.get(&path).await;
    shows(&page, &["Scheduled", "2 recipients", "recipients.csv"]);
    assert!(!page.text().contains(&cancel), "a viewer changes nothing");
    let page = viewer.get("/console/profile").await;
    let fields = [("csrf_token", &*token(&page))];
    assert_eq!(viewer.post(&cancel, &fields).await.status, 403);
    let mut owner = owner(&ogene).await;
    shows(&owner.get(&path).await, &[&cancel]);
    leads_to(&owner.send(&path, &cancel, &[]).await, &path);
    let page = owner.get(&path).await;
    shows(&page, &["cancelled for 2 recipients", "was refunded"]);
    assert!(!page.text().contains(&cancel), "nothing is left to cancel");
    assert_eq!(ogene.statuses(&id).await, ["cancelled", "cancelled"]);
    // A message of another account is none.
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    for path in ["", "/retry", "/recipients.csv"] {
        let path = format!("/console/messages/{id}{path}");
        assert_eq!(rival.get(&path).await.status, 404, "{path}");
    }
    let refused = rival.send("/console/profile", &cancel, &[]).await;
    assert_eq!(refused.status, 404);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_paused_and_resumed_on_its_page() {
    let ogene = Ogene::start().await;
    let at = (Timestamp::now() + 3_600.seconds()).to_string();
    let id = ogene
        .sent_id(with(to(MTN, "Later"), json!({ "send_at": at })))
        .await;
    let path = format!("/console/messages/{id}");
    let [pause, resume] = ["pause", "resume"].map(|last| format!("{path}/{last}"));
    let mut owner = owner(&ogene).await;
    leads_to(&owner.send(&path, &pause, &[]).await, &path);
    let page = owner.get(&path).await;
    shows(&page, &["The message is paused", "Paused", &resume]);
    assert!(!page.text().contains(&pause), "{}", page.text());
    leads_to(&owner.send(&path, &resume, &[]).await, &path);
    let page = owner.get(&path).await;
    shows(&page, &["The message goes on", "Scheduled", &pause]);
    assert!(!page.text().contains(&resume), "{}", page.text());
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    for change in [&pause, &resume] {
        let refused = rival.send("/console/profile", change, &[]).await;
        assert_eq!(refused.status, 404);
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_recipients_become_a_draft_of_their_own() {
    let script = Script {
        rules: vec![rule(AIRTEL, receipt(ReceiptState::Undeliverable))],
        ..Script::default()
    };
    let ogene = Setup::new().script(script).start().await;
    let fields = json!({ "to": [MTN, AIRTEL] });
    let id = ogene.sent_id(with(to(MTN, "Fish & chips"), fields)).await;
    let path = format!("/console/messages/{id}");
    let mut owner = owner(&ogene).await;
    until("the progress has ended", async || {
        let part = owner.get(&format!("{path}?part=progress")).await;
        let is_part = part.text().starts_with("<div id=\"progress\"");
        assert!(is_part, "{}", part.text());
        let polls = part.text().contains("hx-get");
        assert!(
            polls || part.text().contains("Completed"),
            "{}",
            part.text()
        );
        (!polls).then_some(())
    })
    .await;
    let retry = format!("{path}/retry");
    shows(&owner.get(&path).await, &[&retry, "Completed"]);
    let draft = owner.get(&retry).await;
    assert_eq!(draft.status, 200);
    shows(
        &draft,
        &[
            AIRTEL,
            "Fish &#38; chips",
            SENDER,
            "1 recipient that failed",
        ],
    );
    assert!(!draft.text().contains(MTN), "a delivered one is left out");
    let csv = owner.get(&format!("{path}/recipients.csv")).await;
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    shows(&csv, &[&id, AIRTEL, MTN]);
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    assert_eq!(viewer.get(&retry).await.status, 403);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sandbox_is_shown_after_a_switch_and_alone() {
    let ogene = Ogene::start().await;
    let live = ogene.sent_id(to(MTN, "To a real phone")).await;
    ogene.outcome(&live).await;
    let mut owner = owner(&ogene).await;
    leads_to(&owner.get("/console/inbox").await, "/console/");
    let switch = [("environment", "sandbox")];
    let switched = owner
        .send("/console/", "/console/environment", &switch)
        .await;
    leads_to(&switched, "/console/");
    let page = owner.get("/console/").await;
    shows(
        &page,
        &[
            "You are in the sandbox",
            "/console/inbox",
            "No messages yet",
        ],
    );
    let path = format!("/console/messages/{live}");
    assert_eq!(owner.get(&path).await.status, 404);
    let fields = [
        ("from", SENDER),
        ("to", MTN),
        ("body", "To a simulated <phone>"),
        ("gateway", "direct-refund"),
        ("key", "console-sandbox-1"),
    ];
    let sent = owner.send("/console/send", "/console/send", &fields).await;
    assert_eq!(sent.status, 303, "{}", sent.text());
    let message = sent.header("location").expect("a message").to_owned();
    until("the phone has it", async || {
        let inbox = owner.get("/console/inbox").await;
        shows(&inbox, &[MTN, "To a simulated &#60;phone&#62;", SENDER]);
        inbox.text().contains("Delivered").then_some(())
    })
    .await;
    for (number, is_found) in [(MTN, true), (GLO, false)] {
        let path = format!("/console/inbox?recipient={number}");
        let found = owner.get(&path).await.text().contains("simulated &#60;");
        assert_eq!(found, is_found);
    }
    let back = [("environment", "live")];
    let switched = owner.send("/console/", "/console/environment", &back).await;
    leads_to(&switched, "/console/");
    assert_eq!(owner.get(&message).await.status, 404);
    assert_eq!(owner.get(&path).await.status, 200);
    assert_eq!(ogene.received(1).await.len(), 1, "no carrier has the other");
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_finds_messages_of_all_accounts() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Fish & chips")).await;
    ogene.outcome(&id).await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let path = "/operator/messages";
    let page = operator.get(path).await;
    shows(
        &page,
        &[
            "Fish &#38; chips",
            &format!("{path}/{id}"),
            SENDER,
            "Account",
        ],
    );
    let account = ogene.shop.id;
    for (query, is_found) in [
        (format!("recipient={MTN}"), true),
        (format!("recipient={GLO}"), false),
        (format!("account={account}&delivery_status=delivrd"), true),
        (format!("account={account}&state=scheduled"), false),
        ("environment=sandbox".to_owned(), false),
        ("account=Ada".to_owned(), false),
        ("recipient=12".to_owned(), false),
    ] {
        let page = operator.get(&format!("{path}?{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        assert_eq!(page.text().contains("Fish &#38;"), is_found, "{query}");
    }
    let one = format!("{path}/{id}");
    leads_to(
        &operator.get(&format!("{path}?message_id={id}")).await,
        &one,
    );
    let page = operator.get(&format!("{path}?message_id=7")).await;
    shows(&page, &["There is no message with this ID"]);
    let page = operator.get(&one).await;
    shows(
        &page,
        &["Delivered", "Fish &#38; chips", MTN, &account.to_string()],
    );
    let page = operator.get(&format!("{one}/{MTN}")).await;
    let receipt = ["Carrier mtn sent a receipt", "stat:DELIVRD"];
    shows(&page, &["Submitted", "Carrier mtn accepted"]);
    shows(&page, &receipt);
    for unknown in ["7".to_owned(), format!("{id}/{GLO}")] {
        let page = operator.get(&format!("{path}/{unknown}")).await;
        assert_eq!(page.status, 404, "{unknown}");
    }
    // A customer finds a message of the own account alone.
    let mut owner = owner(&ogene).await;
    let path = format!("/console/messages/{id}/{MTN}");
    shows(&owner.get(&path).await, &receipt);
    let search = format!("/console/messages?message_id={id}");
    leads_to(
        &owner.get(&search).await,
        &format!("/console/messages/{id}"),
    );
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    shows(
        &rival.get(&search).await,
        &["There is no message with this ID"],
    );
    ogene.end().await;
}
