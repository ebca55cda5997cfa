//! Sub-accounts by the interface (docs/spec/sub-accounts.md).

use crate::kit::esme::{Esme, User, message, own_address};
use crate::kit::http::{Answer, Request};
use crate::kit::wire::{receipt, rule};
use crate::kit::{Customer, GLO, MTN, Ogene, SENDER, Setup, to, until, with};
use domain::smpp_user::Dialect;
use domain::{AccountStatus, SenderStatus};
use engine::operators::NewSmppUser;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use smpp::simulator::Script;
use smpp::{BindKind, CommandStatus, ReceiptState};

const SUB_ACCOUNTS: &str = "/api/v2/sub-accounts";
/// A number whose messages are not delivered.
const UNDELIVERED: &str = "2348031230002";

async fn ask(ogene: &Ogene, method: &str, path: &str, fields: Value) -> Answer {
    let request = Request::new(method, path).bearer(&ogene.shop.token);
    let request = match method {
        "GET" => request,
        _ => request.json(&fields),
    };
    ogene.ask(&request).await
}

/// Makes a sub-account of the shop, whose sender ID is approved.
pub(crate) async fn sub_account(ogene: &Ogene) -> Customer {
    let fields = json!({"name": "Ada Foods", "email": "ada@example.ng"});
    let made = ask(ogene, "POST", SUB_ACCOUNTS, fields).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let text = |name: &str| made.json()["data"][name].as_str().map(str::to_owned);
    let customer = Customer {
        id: text("sub_account_id")
            .expect("an id")
            .parse()
            .expect("an id"),
        token_id: String::new(),
        token: text("token").expect("a token"),
    };
    let approved = SenderStatus::Approved;
    ogene.sender(&customer, SENDER, false, approved).await;
    customer
}

fn path_of(sub: &Customer) -> String {
    format!("{SUB_ACCOUNTS}/{}", sub.id)
}

async fn transfer(ogene: &Ogene, sub: &Customer, fields: Value) -> Answer {
    ask(ogene, "POST", &format!("{}/transfer", path_of(sub)), fields).await
}

/// Transfers an amount to a sub-account.
pub(crate) async fn give(ogene: &Ogene, sub: &Customer, amount: &str) {
    let fields = json!({"amount": amount, "direction": "to_sub", "reference": format!("{} {amount}", sub.id)});
    let given = transfer(ogene, sub, fields).await;
    assert_eq!(given.status, 200, "{}", given.text());
}

/// Returns the balance of an account.
async fn balance(ogene: &Ogene, token: &str) -> f64 {
    let balance = Request::get("/api/v2/balance").bearer(token);
    let balance = ogene.ask(&balance).await.json();
    balance["balance"]["total_balance"]
        .as_f64()
        .expect("a number")
}

async fn send(ogene: &Ogene, sub: &Customer, number: &str, text: &str) -> Answer {
    ogene
        .ask(&Request::send(&sub.token, &to(number, text)))
        .await
}

#[tokio::test]
async fn a_sub_account_pays_its_price_and_its_parent_the_margin() {
    let rules = vec![rule("0002", receipt(ReceiptState::Undeliverable))];
    let script = Script {
        rules,
        ..Script::default()
    };
    let ogene = Setup::new().script(script).start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "100.00").await;
    let prices = json!({"prices": {"direct-refund": "7.50"}});
    let changed = ask(&ogene, "PATCH", &path_of(&sub), prices).await.json();
    let shown = json!({"direct-refund": {"price": 7.50, "unicode_price": 15.00}});
    assert_eq!(changed["data"]["prices"], shown, "{changed}");
    // The running service knows the price within a second.
    let sent = until("the price holds", async || {
        let text = format!("Hello at {:?}", std::time::Instant::now());
        let quote = Request::post("/api/v2/sms/quote").bearer(&sub.token);
        let quote = ogene.ask(&quote.json(&to(MTN, &text))).await.json();
        (quote["data"]["cost"] == 7.5).then_some(())?;
        Some(send(&ogene, &sub, MTN, "Hello").await.json())
    })
    .await;
    assert_eq!(sent["data"]["cost"], 7.5, "{sent}");
    assert_eq!(balance(&ogene, &sub.token).await.to_string(), "92.5");
    assert_eq!(
        balance(&ogene, &ogene.shop.token).await.to_string(),
        "901.5"
    );
    let id = &sent["data"]["message_id"];
    let entries = ogene.read("/wallet/entries?kind=margin").await;
    let entry = &entries["data"]["items"][0];
    assert_eq!((&entry["message_id"], &entry["amount"]), (id, &json!(1.5)));

    // A refund takes both back.
    let refused = send(&ogene, &sub, UNDELIVERED, "Hello").await;
    assert_eq!(refused.status, 200, "{}", refused.text());
    let id = refused.json()["data"]["message_id"].take();
    let report = format!("/api/v2/delivery-reports/{}", id.as_str().expect("an id"));
    let report = Request::get(&report).bearer(&sub.token);
    until("the recipient has its outcome", async || {
        let report = ogene.ask(&report).await.json();
        (report["data"]["reports"][0]["delivery_status"] == "undeliv").then_some(())
    })
    .await;
    assert_eq!(balance(&ogene, &sub.token).await.to_string(), "92.5");
    assert_eq!(
        balance(&ogene, &ogene.shop.token).await.to_string(),
        "901.5"
    );
    let taken = ogene.read("/wallet/entries?kind=margin").await;
    let amounts: Vec<&Value> = taken["data"]["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|entry| &entry["amount"])
        .collect();
    assert_eq!(amounts, [&json!(-1.5), &json!(1.5), &json!(1.5)]);
    ogene.end().await;
}

#[tokio::test]
async fn a_recipient_that_waits_costs_the_price_of_the_sub_account() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "100.00").await;
    let prices = json!({"prices": {"direct-refund": "7.50"}});
    let changed = ask(&ogene, "PATCH", &path_of(&sub), prices).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    until("the price holds", async || {
        let quote = Request::post("/api/v2/sms/quote").bearer(&sub.token);
        let quote = ogene.ask(&quote.json(&to(MTN, "Later"))).await.json();
        (quote["data"]["cost"] == 7.5).then_some(())
    })
    .await;
    let in_an_hour = (Timestamp::now() + 1.hour()).to_string();
    let later = json!({"to": [MTN, GLO], "send_at": in_an_hour});
    let later = with(to(MTN, "Later"), later);
    let sent = ogene.ask(&Request::send(&sub.token, &later)).await.json();
    let id = sent["data"]["message_id"].as_str().expect("an id");
    let path = format!("/api/v2/messages/{id}/recipients");
    let listed = ogene.ask(&Request::get(&path).bearer(&sub.token)).await;
    let listed = listed.json();
    for index in 0..2 {
        assert_eq!(listed["data"]["items"][index]["cost"], 7.5, "{listed}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_transfer_counts_once_for_its_reference() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    let fields = |amount: &str, direction: &str| json!({"amount": amount, "direction": direction, "reference": "june"});
    let first = transfer(&ogene, &sub, fields("300", "to_sub")).await;
    let again = transfer(&ogene, &sub, fields("300.00", "to_sub")).await;
    assert_eq!(
        first.json()["data"],
        again.json()["data"],
        "{}",
        again.text()
    );
    assert_eq!(first.json()["data"]["amount"], 300.0);
    for other in [fields("301", "to_sub"), fields("300", "from_sub")] {
        assert_eq!(transfer(&ogene, &sub, other).await.code(), "API-2016");
    }
    assert_eq!(balance(&ogene, &sub.token).await.to_string(), "300");
    assert_eq!(balance(&ogene, &ogene.shop.token).await.to_string(), "700");
    let other = |amount: Value, direction: &str, reference: &str| json!({"amount": amount, "direction": direction, "reference": reference});
    for (fields, code) in [
        (other(json!("300.01"), "from_sub", "a"), "API-3001"),
        (other(json!(700.5), "to_sub", "a"), "API-3001"),
        (other(json!(0), "to_sub", "a"), "API-2000"),
        (other(json!("1.005"), "to_sub", "a"), "API-2000"),
        (other(json!("1"), "up", "a"), "API-2000"),
        (other(json!("1"), "to_sub", ""), "API-2000"),
    ] {
        let refused = transfer(&ogene, &sub, fields.clone()).await;
        assert_eq!(refused.code(), code, "{fields}");
    }
    let back = transfer(&ogene, &sub, other(json!(300), "from_sub", "back")).await;
    assert_eq!(back.status, 200, "{}", back.text());
    assert_eq!(balance(&ogene, &ogene.shop.token).await.to_string(), "1000");
    ogene.end().await;
}

#[tokio::test]
async fn a_parent_limits_and_stops_its_sub_accounts() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "100.00").await;
    let change = async |fields: Value| ask(&ogene, "PATCH", &path_of(&sub), fields).await;
    for (fields, code) in [
        (json!({"prices": {"direct-refund": "5.99"}}), "API-2022"),
        (
            json!({"prices": {"direct-refund": {"price": "6", "unicode_price": "11"}}}),
            "API-2022",
        ),
        (json!({"prices": {"premium": "9"}}), "API-2000"),
        (json!({"prices": ["9"]}), "API-2000"),
        (json!({"status": "restricted"}), "API-2000"),
        (json!({"daily_limit": "much"}), "API-2000"),
        (json!({}), "API-2000"),
    ] {
        assert_eq!(change(fields.clone()).await.code(), code, "{fields}");
    }
    let limited = change(json!({"daily_limit": "10"})).await.json();
    assert_eq!(limited["data"]["daily_limit"], 10.0, "{limited}");
    assert_eq!(send(&ogene, &sub, MTN, "One").await.status, 200);
    let beyond = send(&ogene, &sub, MTN, "Two").await;
    assert_eq!(
        (beyond.status, beyond.code().as_str()),
        (402, "API-3001"),
        "{}",
        beyond.text()
    );
    let free = change(json!({"daily_limit": null})).await.json();
    assert_eq!(free["data"]["daily_limit"], Value::Null, "{free}");
    assert_eq!(send(&ogene, &sub, MTN, "Two").await.status, 200);

    assert_eq!(change(json!({"status": "disabled"})).await.status, 200);
    until("the sub-account is stopped", async || {
        (send(&ogene, &sub, MTN, "Three").await.code() == "API-1002").then_some(())
    })
    .await;
    assert_eq!(change(json!({"status": "active"})).await.status, 200);
    until("the sub-account sends again", async || {
        (send(&ogene, &sub, MTN, "Three").await.status == 200).then_some(())
    })
    .await;
    // A parent that may not send stops its sub-accounts.
    ogene
        .set_status(&ogene.shop, AccountStatus::Restricted)
        .await;
    until("the parent stops it", async || {
        let text = format!("Four at {:?}", std::time::Instant::now());
        (send(&ogene, &sub, MTN, &text).await.code() == "API-1007").then_some(())
    })
    .await;
    ogene.set_status(&ogene.shop, AccountStatus::Active).await;
    // A status that the operator set stays.
    ogene.set_status(&sub, AccountStatus::Restricted).await;
    until("the operator's status stays", async || {
        (change(json!({"status": "active"})).await.code() == "API-2019").then_some(())
    })
    .await;
    // So does one that a parent can set as well.
    ogene.set_status(&sub, AccountStatus::Disabled).await;
    let kept = change(json!({"status": "active"})).await;
    assert_eq!(kept.code(), "API-2019");
    ogene.set_status(&sub, AccountStatus::Active).await;
    let changed = change(json!({"status": "disabled"})).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    ogene.end().await;
}

#[tokio::test]
async fn a_price_of_two_amounts_holds_for_both_kinds_of_pages() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "100.00").await;
    let price = json!({"price": "7.50", "unicode_price": 20});
    let prices = json!({"prices": {"direct-refund": price}});
    let changed = ask(&ogene, "PATCH", &path_of(&sub), prices).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let shown = json!({"direct-refund": {"price": 7.50, "unicode_price": 20.00}});
    assert_eq!(changed.json()["data"]["prices"], shown);
    let read = ask(&ogene, "GET", &path_of(&sub), Value::Null).await;
    assert_eq!(read.json()["data"]["prices"], shown);
    for (text, unicode, cost) in [("Hello", false, 7.5), ("你好", true, 20.0)] {
        let body = with(to(MTN, text), json!({ "unicode": unicode }));
        until("the price holds", async || {
            let quote = Request::post("/api/v2/sms/quote").bearer(&sub.token);
            let quote = ogene.ask(&quote.json(&body)).await.json();
            (quote["data"]["cost"] == cost).then_some(())
        })
        .await;
        let sent = ogene.ask(&Request::send(&sub.token, &body)).await;
        assert_eq!(sent.json()["data"]["cost"], cost, "{}", sent.text());
    }
    assert_eq!(balance(&ogene, &sub.token).await.to_string(), "72.5");
    ogene.end().await;
}

#[tokio::test]
async fn a_parent_of_each_status_without_sends_stops_its_subs() {
    let setup = Setup::new().set("limits.sends_per_minute", "100000");
    let ogene = setup.start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "100.00").await;
    for (status, refused) in [
        (AccountStatus::Disabled, (401, "API-1002")),
        (AccountStatus::Pending, (403, "API-1007")),
        (AccountStatus::Dormant, (401, "API-1003")),
    ] {
        ogene.set_status(&ogene.shop, status).await;
        // A text that was sent before the status holds is a duplicate until then.
        let text = format!("Stopped by {status:?}");
        until("the status of the parent holds", async || {
            let answer = send(&ogene, &sub, MTN, &text).await;
            ((answer.status, &*answer.code()) == refused).then_some(())
        })
        .await;
        // The sandbox does not depend on the parent.
        let sandbox = Request::post("/api/sandbox/v2/sms").bearer(&sub.token);
        let sandbox = ogene.ask(&sandbox.json(&to(MTN, &text))).await;
        assert_eq!(sandbox.status, 200, "{status:?}: {}", sandbox.text());
        ogene.set_status(&ogene.shop, AccountStatus::Active).await;
        until("it sends again", async || {
            let text = format!("Again after {status:?}");
            let answer = send(&ogene, &sub, MTN, &text).await;
            (answer.status == 200).then_some(())
        })
        .await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_parent_stops_a_sub_account_whose_queue_cannot_be_reached() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    let change = async |status: &str| {
        let changed = ask(&ogene, "PATCH", &path_of(&sub), json!({"status": status})).await;
        assert_eq!(changed.status, 200, "{}", changed.text());
        assert_eq!(changed.json()["data"]["status"], status);
    };
    ogene.hide("batches");
    change("disabled").await;
    ogene.show("batches");
    // It does not wait for a locked queue either.
    let held = ogene.hold_table("batches");
    change("active").await;
    drop(held);
    until("the sub-account may send again", async || {
        let text = format!("One at {:?}", std::time::Instant::now());
        (send(&ogene, &sub, MTN, &text).await.code() == "API-3001").then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn a_parent_that_may_not_send_stops_smpp_users_of_sub_accounts() {
    let address = own_address();
    let listen = format!("\"{address}\"");
    let ogene = Setup::new()
        .set("smpp_server.listen", &listen)
        .start()
        .await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "900.00").await;
    let store = ogene.store().await;
    // No money has another status than an account that may not send.
    let new = NewSmppUser {
        dialect: Dialect {
            vendor_statuses: true,
            latin_1: false,
        },
        ..NewSmppUser::default()
    };
    let users = crate::kit::operations(&store).smpp_users();
    let (user, password) = users.create(sub.id, new).await.expect("a user");
    store.close().await;
    let user = User { user, password };
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    esme.submit(message(b"hi")).await.message_id();
    let restricted = AccountStatus::Restricted;
    ogene.set_status(&ogene.shop, restricted).await;
    until("the parent stops it", async || {
        let answer = esme.submit(message(b"hi")).await;
        (answer.status == CommandStatus::RSUBMITFAIL).then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn sub_accounts_are_listed_and_have_none() {
    let ogene = Ogene::start().await;
    let (first, second) = (sub_account(&ogene).await, sub_account(&ogene).await);
    let list = async |path: &str| ask(&ogene, "GET", path, Value::Null).await.json()["data"].take();
    let page = list(&format!("{SUB_ACCOUNTS}?limit=1")).await;
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = list(&format!("{SUB_ACCOUNTS}?cursor={cursor}")).await;
    let ids = [&page, &rest].map(|page| page["items"][0]["sub_account_id"].clone());
    assert_eq!(
        ids,
        [second.id, first.id].map(|id| Value::from(id.to_string()))
    );
    assert_eq!(rest["next_cursor"], Value::Null);
    assert_eq!(list(&path_of(&first)).await, rest["items"][0]);
    assert_eq!(rest["items"][0]["token"], Value::Null);
    let sandbox = list("/api/sandbox/v2/sub-accounts").await;
    assert_eq!(sandbox["items"].as_array().map(Vec::len), Some(2));
    let below = Request::post(SUB_ACCOUNTS).bearer(&first.token);
    let below = below.json(&json!({"name": "Below", "email": "b@example.ng"}));
    let refused = ogene.ask(&below).await;
    assert_eq!((refused.status, refused.code().as_str()), (403, "API-1007"));
    // A repetition has all but the token.
    let post = Request::post(SUB_ACCOUNTS).bearer(&ogene.shop.token);
    let post = post.header("idempotency-key", "one");
    let post = post.json(&json!({"name": "Third", "email": "c@example.ng"}));
    let (made, again) = (ogene.ask(&post).await.json(), ogene.ask(&post).await.json());
    assert!(made["data"]["token"].is_string() && again["data"]["token"].is_null());
    assert_eq!(
        made["data"]["sub_account_id"],
        again["data"]["sub_account_id"]
    );
    assert_eq!(
        list(SUB_ACCOUNTS).await["items"].as_array().map(Vec::len),
        Some(3)
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_parent_reads_the_messages_of_its_sub_accounts_alone() {
    let ogene = Ogene::start().await;
    let sub = sub_account(&ogene).await;
    give(&ogene, &sub, "50.00").await;
    let sent = send(&ogene, &sub, MTN, "Of the sub-account").await.json();
    let id = sent["data"]["message_id"].as_str().expect("an id");
    let of_sub = format!("sub_account_id={}", sub.id);
    let read = async |token: &str, path: &str| {
        let read = Request::get(&format!("/api/v2{path}")).bearer(token);
        ogene.ask(&read).await
    };
    let shop = &ogene.shop.token;
    let listed = read(shop, &format!("/messages?{of_sub}")).await.json();
    assert_eq!(listed["data"]["items"][0]["message_id"], id);
    let own = read(shop, "/messages").await.json();
    assert_eq!(own["data"]["items"], json!([]));
    let one = read(shop, &format!("/messages/{id}?{of_sub}")).await.json();
    assert_eq!(one["data"]["body"], "Of the sub-account");
    assert_eq!(
        read(shop, &format!("/messages/{id}")).await.code(),
        "API-2007"
    );
    let usage = read(shop, &format!("/usage?by=day&{of_sub}")).await.json();
    assert_eq!(usage["data"]["items"][0]["cost"], 6.0, "{usage}");
    let entries = read(shop, &format!("/wallet/entries?{of_sub}"))
        .await
        .json();
    let kinds = [0, 1].map(|index| entries["data"]["items"][index]["kind"].clone());
    assert_eq!(kinds, ["charge", "transfer"].map(Value::from));
    let rows = read(shop, &format!("/exports/recipients.csv?{of_sub}")).await;
    assert_eq!(
        rows.text().lines().filter(|line| line.contains(id)).count(),
        1
    );
    // Another account, and the sub-account itself, do not.
    let other = ogene.customer("1.00").await;
    for token in [&other.token, &sub.token] {
        for path in [
            "/messages",
            "/usage",
            "/wallet/entries",
            "/exports/wallet.csv",
        ] {
            let refused = read(token, &format!("{path}?{of_sub}")).await;
            assert_eq!(refused.code(), "API-2007", "{path}");
        }
    }
    ogene.end().await;
}
