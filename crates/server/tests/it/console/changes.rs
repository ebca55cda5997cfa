//! The changes of customers and operators by the forms of the console.

use super::{leads_to, member};
use crate::kit::http::Answer;
use crate::kit::{MTN, Ogene, to, until, with};
use domain::user::role::Role;
use serde_json::json;

fn has(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

/// Returns the text between two marks of a page.
fn between(page: &Answer, start: &str, end: &str) -> String {
    let found = page.text().split_once(start);
    let (_, rest) = found.unwrap_or_else(|| panic!("{start}: {}", page.text()));
    rest.split(end).next().expect("an end").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_shown_once_and_revoked_by_its_account_alone() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let faults = [("name", "Website"), ("expires", "soon"), ("allowed", "x")];
    let new = "/console/tokens/new";
    let refused = owner.send(new, "/console/tokens", &faults).await;
    assert_eq!(refused.status, 422);
    for fault in ["Give a day", "Choose at least one scope."] {
        assert!(refused.text().contains(fault), "{}", refused.text());
    }
    // The form offers all scopes, each with what it permits.
    let form = owner.get(new).await;
    has(&form, &["Scope manage", "Every read"]);
    assert_eq!(
        form.text().matches(" checked").count(),
        4,
        "{}",
        form.text()
    );
    let fields = [
        ("name", "Website"),
        ("scope_read", "yes"),
        ("per_minute", "60"),
    ];
    let sent = owner.send(new, "/console/tokens", &fields).await;
    leads_to(&sent, "/console/tokens");
    // Another session of the browser, such as that of the next user, is not shown the token.
    let (mut next, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let carried = owner.cookies["ogene-made"].clone();
    next.cookies.insert("ogene-made".to_owned(), carried);
    for path in ["/console/tokens", "/console/smpp-users"] {
        assert!(
            !next.get(path).await.text().contains("shown once"),
            "{path}"
        );
    }
    // Another page in between does not use it up.
    assert_eq!(owner.get("/console/callbacks/secrets").await.status, 200);
    let made = owner.get("/console/tokens").await;
    has(&made, &["shown once", "Website", ">read<", ">60<"]);
    let token = between(&made, "<code id=\"secret\" class=\"mono\">", "<");
    let before = made.text().split("/revoke").next().expect("a token");
    let id = before.rsplit('/').next().expect("an id").to_owned();
    let page = owner.get("/console/tokens").await;
    assert!(!page.text().contains(&token), "a token is shown once");
    assert_eq!(
        page.text().matches(">Website<").count(),
        1,
        "a reload makes no other"
    );

    let wallet = || crate::kit::http::Request::get("/api/v2/balance").bearer(&token);
    assert_eq!(ogene.ask(&wallet()).await.status, 200);
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    let revoke = format!("/console/tokens/{id}/revoke");
    assert_eq!(rival.send(new, &revoke, &[]).await.status, 404);
    assert_eq!(ogene.ask(&wallet()).await.status, 200);
    leads_to(&owner.send(new, &revoke, &[]).await, "/console/tokens");
    has(
        &owner.get("/console/tokens").await,
        &["was revoked", "Revoked"],
    );
    assert_eq!(owner.send(new, &revoke, &[]).await.status, 404);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_requested_sender_id_is_sent_with_once_it_is_approved() {
    let ogene = Ogene::start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Developer).await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let (new, list) = ("/console/sender-ids/new", "/console/sender-ids");
    let fields = [("sender_id", "KanoFresh"), ("purpose", "Receipts")];
    assert_eq!(
        owner.send(new, list, &[("sender_id", "x")]).await.status,
        422
    );
    leads_to(&owner.send(new, list, &fields).await, list);
    has(
        &owner.get(list).await,
        &["KanoFresh", "Pending", "waits for"],
    );
    let send = || with(to(MTN, "Hello"), json!({ "from": "KanoFresh" }));
    assert_eq!(ogene.send(send()).await.status, 403);

    let queue = "/operator/sender-ids";
    has(&operator.get(queue).await, &["KanoFresh", "Receipts"]);
    let account = ogene.shop.id.to_string();
    let named = [("account", account.as_str()), ("name", "KanoFresh")];
    let reject = format!("{queue}/reject?account={account}&name=KanoFresh");
    let reason = [("reason", "Whose brand is it?")];
    leads_to(&operator.send(queue, &reject, &reason).await, queue);
    has(&owner.get(list).await, &["Rejected", "Whose brand"]);
    leads_to(&owner.send(new, list, &fields).await, list);
    let approve = [named[0], named[1], ("status", "approved")];
    leads_to(
        &operator
            .send(queue, "/operator/sender-ids/status", &approve)
            .await,
        queue,
    );
    has(&owner.get(list).await, &["Approved"]);
    let accepted = crate::kit::until("the sender ID", async || {
        let answer = ogene.send(send()).await;
        (answer.status == 200).then_some(answer)
    });
    accepted.await;
    has(
        &operator.get("/operator/audit").await,
        &["sender-id.approve", "sender-id.request"],
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_moves_credit_with_a_reason_in_the_audit() {
    let ogene = Ogene::start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let fields = [("name", "Kano Fresh"), ("email", "ada@kano.example")];
    let new = "/operator/accounts/new";
    let made = operator.send(new, "/operator/accounts", &fields).await;
    let path = made.header("location").expect("a page").to_owned();
    has(&operator.get("/operator/accounts").await, &["Kano Fresh"]);

    let credit = [
        ("credit-amount", "1000.50"),
        ("credit-reference", "INV-1"),
        ("credit-component", "sms_wallet"),
    ];
    let credited = format!("{path}/credit");
    leads_to(&operator.send(&path, &credited, &credit).await, &path);
    has(
        &operator.get(&path).await,
        &["The balance is ₦1,000.50 now"],
    );
    leads_to(&operator.send(&path, &credited, &credit).await, &path);
    has(&operator.get(&path).await, &["Nothing was changed"]);
    let debit = [
        ("debit-amount", "400.50"),
        ("debit-reference", "INV-2"),
        ("debit-reason", "Paid twice"),
        ("debit-component", "sms_wallet"),
    ];
    let debited = format!("{path}/debit");
    leads_to(&operator.send(&path, &debited, &debit[..2]).await, &path);
    has(&operator.get(&path).await, &["₦1,000<small>.50"]);
    leads_to(&operator.send(&path, &debited, &debit).await, &path);
    has(
        &operator.get(&path).await,
        &["The balance is ₦600.00 now", "INV-1", "INV-2"],
    );
    let id = path.rsplit('/').next().expect("an id");
    has(
        &operator.get(&format!("/operator/audit?account={id}")).await,
        &["wallet.debit", "Paid twice", "INV-2"],
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phrase_of_an_operator_refuses_texts() {
    let ogene = Ogene::start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let (new, list) = ("/operator/content/new", "/operator/content");
    let fields = [("phrase", "free crypto")];
    leads_to(&operator.send(new, list, &fields).await, list);
    has(&operator.get(list).await, &["free crypto"]);
    let test = "/operator/content/test";
    let asked = [("text", "Get FREE crypto now")];
    let tested = operator.send(test, test, &asked).await;
    has(&tested, &["refused for the phrase “free crypto”"]);
    crate::kit::until("the phrase", async || {
        let answer = ogene.send(to(MTN, "Get FREE crypto now")).await;
        (answer.code() == "API-2010").then_some(())
    })
    .await;
    let remove = "/operator/content/remove";
    leads_to(&operator.send(list, remove, &fields).await, list);
    let tested = operator.send(test, test, &asked).await;
    has(&tested, &["no prohibited phrase"]);
    let verified = operator.send("/operator/verify", "/operator/verify", &[]);
    leads_to(&verified.await, "/operator/verify");
    until("the books are verified", async || {
        let page = operator.get("/operator/verify").await;
        has(&page, &["Verification", "hx-get=\"/operator/verify\""]);
        page.text().contains("All is well").then_some(())
    })
    .await;
    has(&operator.get("/operator/verify/new").await, &["Verify now"]);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_pdus_of_a_carrier_are_masked() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Fresh tomatoes")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let overview = operator.get("/operator/").await;
    let carrier = between(&overview, "/operator/carriers/", "\"");
    let page = operator.get(&format!("/operator/carriers/{carrier}")).await;
    let masked = format!("{}{}", "*".repeat(10), &MTN[10..]);
    has(
        &page,
        &[
            "bind_transceiver_resp",
            "submit_sm_resp",
            "deliver_sm",
            &masked,
        ],
    );
    for secret in [MTN, "Fresh tomatoes", &MTN[..10]] {
        assert!(!page.text().contains(secret), "{secret}");
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_sees_the_traffic_of_carriers() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Fresh tomatoes")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let overview = operator.get("/operator/").await;
    has(
        &overview,
        &["100.0 %", "direct-refund", "This node", "bound", "In doubt"],
    );
    let carrier = between(&overview, "/operator/carriers/", "\"");
    let page = operator.get(&format!("/operator/carriers/{carrier}")).await;
    has(&page, &["ESME_ROK", "accepted the page", "In window"]);
    let list = operator.get("/operator/carriers").await;
    has(&list, &[&carrier, "hx-select=\"#rows\""]);
    let unknown = operator.get("/operator/carriers/none").await;
    assert_eq!(unknown.status, 404);

    let path = format!("/operator/carriers/{carrier}");
    for (action, shown) in [
        ("pause", "is paused"),
        ("drain", "is drained"),
        ("resume", "is running"),
    ] {
        let changed = operator.send(&path, &format!("{path}/{action}"), &[]).await;
        assert_eq!(changed.status, 303, "{action}");
        has(&operator.get(&path).await, &[&format!("{carrier} {shown}")]);
    }
    let throttle = format!("{path}/throttle");
    operator
        .send(&path, &throttle, &[("per-second", "7")])
        .await;
    has(
        &operator.get(&path).await,
        &["at most 7 submits a second", "at most 7 / s"],
    );
    operator
        .send(&path, &throttle, &[("per-second", "0")])
        .await;
    has(
        &operator.get(&path).await,
        &["Give a whole number from 1", "at most 7 / s"],
    );
    operator.send(&path, &throttle, &[("per-second", "")]).await;
    has(&operator.get(&path).await, &["is running.", "no limit"]);
    let unknown = "/operator/carriers/none/pause";
    has(
        &operator.get("/operator/audit").await,
        &["carrier.drain", "carrier.throttle"],
    );
    let refused = operator.send(&path, unknown, &[]).await;
    assert_ne!(refused.status, 200);

    let trace = "/operator/trace";
    let traced = operator.send(trace, trace, &[("number", MTN)]).await;
    has(&traced, &["mtn", "direct-refund", &carrier]);
    let refused = operator.send(trace, trace, &[("number", "12")]).await;
    assert_eq!(refused.status, 422);
    has(
        &operator.get("/operator/doubts").await,
        &["Nobody is in doubt"],
    );
    has(
        &operator.get("/operator/callbacks").await,
        &["No dead callbacks"],
    );
    ogene.end().await;
}
