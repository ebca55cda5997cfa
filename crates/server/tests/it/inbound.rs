//! Inbound messages over real SMPP.

use super::kit::http::{Answer, Request};
use super::kit::receiver::{Reaction, Receiver};
use super::kit::{MTN, Ogene, SENDER, Setup, operations, to, until, with};
use domain::inbound::{InboundMessage, InboundRoute};
use domain::search::FilterFields;
use engine::operators::{PageRequest, Replay, RouteFields};
use serde_json::{Value, json};
use smpp::simulator::{
    InboundForm, InboundOrder, InboundScript, Quirk, ReceiptForm, ReceiptStyle, Script,
    parse_inbound,
};
use smpp::{Address, DeliverSm, Tlv, esm_class, tag, udh};

/// Returns a message from MTN's subscriber to a number.
fn inbound(number: &str, data_coding: u8, text: &[u8]) -> DeliverSm {
    DeliverSm {
        source: Address::international(MTN),
        destination: Address {
            ton: 3,
            npi: 0,
            digits: number.to_owned(),
        },
        data_coding,
        short_message: text.to_vec().into(),
        ..DeliverSm::default()
    }
}

/// Returns a page with a user data header.
fn page(number: &str, (reference, total, place): (u8, u8, u8), text: &[u8]) -> DeliverSm {
    let text = [&udh(reference, total, place)[..], text].concat();
    DeliverSm {
        esm_class: esm_class::UDHI,
        ..inbound(number, 0, &text)
    }
}

async fn route(ogene: &Ogene, number: &str, keyword: Option<&str>) -> InboundRoute {
    route_to(ogene, number, keyword, None).await
}

/// Makes a route whose messages go to a URL.
async fn route_to(
    ogene: &Ogene,
    number: &str,
    keyword: Option<&str>,
    url: Option<&str>,
) -> InboundRoute {
    let fields = RouteFields {
        number: number.to_owned(),
        keyword: keyword.map(str::to_owned),
        url: url.map(str::to_owned),
        smpp_user: None,
        allow_private: true,
    };
    let store = ogene.store().await;
    let inbound = operations(&store).inbound();
    let added = inbound.add_route(ogene.shop.id, &fields).await;
    store.close().await;
    added.expect("a route")
}

/// Waits until so many messages are kept. Returns them, the oldest first.
async fn kept(ogene: &Ogene, count: usize) -> Vec<InboundMessage> {
    let store = ogene.store().await;
    let kept = until("the messages are kept", async || {
        let (inbound, fields) = (operations(&store).inbound(), FilterFields::default());
        let page = PageRequest::default();
        let listed = inbound.messages(None, &fields, &page);
        let mut listed = listed.await.expect("a list").items;
        listed.reverse();
        (listed.len() >= count).then_some(listed)
    })
    .await;
    store.close().await;
    kept
}

async fn answered(ogene: &Ogene, count: u64) {
    until("all are answered", async || {
        (ogene.smsc().stats().answered == count).then_some(())
    })
    .await;
}

fn texts(messages: &[InboundMessage]) -> Vec<&str> {
    messages
        .iter()
        .filter_map(|one| one.body.as_deref())
        .collect()
}

#[tokio::test]
async fn an_inbound_message_is_decoded_routed_and_answered() {
    let ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    let all = route(&ogene, "32811", None).await;
    let promo = route(&ogene, "32811", Some("Promo")).await;
    ogene.bound("mtn", 1).await;
    let payload = DeliverSm {
        tlvs: vec![Tlv::new(tag::MESSAGE_PAYLOAD, b"\x1E\xCC\x00k".to_vec())],
        ..inbound("32811", 8, b"")
    };
    let messages = [
        inbound("32811", 0, b"PROMO! \x1B\x65 5"),
        inbound("32811", 3, b"caf\xE9"),
        payload,
        inbound("99999", 0, b"Promo"),
    ];
    for (count, message) in (1..).zip(messages) {
        ogene.smsc().send("ogene", message);
        kept(&ogene, count).await;
    }
    answered(&ogene, 4).await;
    let found = kept(&ogene, 4).await;
    assert_eq!(texts(&found), ["PROMO! € 5", "café", "Ọk", "Promo"]);
    let routes: Vec<_> = found.iter().map(|one| one.route.clone()).collect();
    let all = Some(all.id);
    assert_eq!(routes, [Some(promo.id), all.clone(), all, None]);
    assert_eq!(found[0].account, Some(ogene.shop.id));
    assert_eq!(
        (found[0].sender.as_str(), found[0].keyword.as_str()),
        (MTN, "promo")
    );
    assert_eq!(found[3].account, None, "it belongs to the operator");
    assert_eq!(ogene.sql("select count(*) from inbound_pages"), "0");
    ogene.end().await;
}

#[tokio::test]
async fn the_pages_of_an_inbound_message_are_joined_in_any_order() {
    let ogene = Setup::new().start().await;
    ogene.bound("mtn", 2).await;
    let wide = |place: u8, text: &[u8]| {
        let header = [6, 8, 4, 1, 9, 2, place];
        DeliverSm {
            esm_class: esm_class::UDHI,
            ..inbound("32812", 0, &[&header[..], text].concat())
        }
    };
    let sar = |place: u8, text: &[u8]| DeliverSm {
        tlvs: vec![
            Tlv::new(tag::SAR_MSG_REF_NUM, vec![0, 9]),
            Tlv::new(tag::SAR_TOTAL_SEGMENTS, vec![2]),
            Tlv::new(tag::SAR_SEGMENT_SEQNUM, vec![place]),
        ],
        ..inbound("32813", 0, text)
    };
    for message in [
        page("32811", (9, 3, 3), b"c"),
        wide(2, b"two"),
        page("32811", (9, 3, 1), b"a"),
        sar(2, b"rest"),
        page("32811", (9, 3, 2), b"b"),
        wide(1, b"one "),
        sar(1, b"first "),
    ] {
        ogene.smsc().send("ogene", message);
    }
    let found = kept(&ogene, 3).await;
    let mut texts = texts(&found);
    texts.sort_unstable();
    assert_eq!(texts, ["abc", "first rest", "one two"]);
    assert!(found.iter().all(|one| one.complete));
    answered(&ogene, 7).await;
    ogene.end().await;
}

#[tokio::test]
async fn an_incomplete_inbound_message_is_kept_after_its_time_out() {
    let ogene = Setup::new()
        .set("inbound.join_timeout", r#""1s""#)
        .start()
        .await;
    ogene.bound("mtn", 2).await;
    ogene.smsc().send("ogene", page("32811", (9, 3, 3), b"c"));
    ogene.smsc().send("ogene", page("32811", (9, 3, 1), b"a"));
    answered(&ogene, 2).await;
    let found = kept(&ogene, 1).await;
    assert_eq!((texts(&found), found[0].complete), (vec!["ac"], false));
    ogene.end().await;
}

#[tokio::test]
async fn a_repetition_on_another_connection_is_kept_once() {
    let ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    ogene.bound("mtn", 1).await;
    let yes = || inbound("32811", 0, b"Yes");
    ogene.smsc().send("ogene", yes());
    ogene.smsc().send("ogene", yes());
    kept(&ogene, 2).await;
    answered(&ogene, 2).await;
    ogene.smsc().drop_connections().await;
    ogene.smsc().send("ogene", yes());
    ogene.smsc().send("ogene", inbound("32811", 0, b"No"));
    let found = kept(&ogene, 3).await;
    answered(&ogene, 4).await;
    assert_eq!(texts(&found), ["Yes", "Yes", "No"]);
    ogene.end().await;
}

#[tokio::test]
async fn a_scripted_message_in_odd_order_and_repeated_is_kept_once() {
    let text = "Lagos ".repeat(60);
    for form in [InboundForm::Udh, InboundForm::UdhWide, InboundForm::Sar] {
        let inbound = InboundScript {
            messages: vec![parse_inbound(&format!("{MTN}:32811:{text}")).expect("a message")],
            form,
            order: InboundOrder::Shuffled,
            again: true,
            ..InboundScript::default()
        };
        let script = Script {
            inbound,
            ..Script::default()
        };
        let setup = Setup::new().set("carriers.mtn.binds", "1");
        let ogene = setup.script(script).start().await;
        answered(&ogene, 6).await;
        let found = kept(&ogene, 1).await;
        assert_eq!(texts(&found), [&text], "{form:?}");
        assert!(found[0].complete);
        assert_eq!(ogene.smsc().stats().binds, 2, "one ended");
        assert_eq!(ogene.sql("select count(*) from inbound_pages"), "0");
        ogene.end().await;
    }
}

#[tokio::test]
async fn an_inbound_message_is_answered_once_it_is_kept() {
    let mut ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    ogene.bound("mtn", 1).await;
    ogene.hide("inbound_pages");
    ogene.smsc().send("ogene", inbound("32811", 0, b"Yes"));
    until("it is delivered", async || {
        (ogene.smsc().stats().delivered >= 1).then_some(())
    })
    .await;
    assert_eq!(ogene.smsc().stats().answered, 0);
    ogene.kill().await;
    ogene.show("inbound_pages");
    ogene.serve().await;
    assert_eq!(texts(&kept(&ogene, 1).await), ["Yes"]);
    answered(&ogene, 1).await;
    ogene.end().await;
}

#[tokio::test]
async fn an_unmarked_receipt_in_pages_is_no_inbound_message() {
    let receipts = ReceiptStyle {
        form: ReceiptForm::Text,
        quirks: vec![Quirk::TwoParts, Quirk::Unmarked],
        ..ReceiptStyle::default()
    };
    let script = Script {
        receipts,
        ..Script::default()
    };
    let setup = Setup::new().set("retention.receipts", r#""0s""#);
    let ogene = setup.script(script).start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let raw = ogene.sql("select count(*) from raw_receipts");
    assert_eq!(raw, "0", "none is to be kept");
    until("the pages are gone", async || {
        (ogene.sql("select count(*) from inbound_pages") == "0").then_some(())
    })
    .await;
    assert_eq!(ogene.sql("select count(*) from inbound_messages"), "0");
    ogene.end().await;
}

#[tokio::test]
async fn a_reply_names_the_last_message_from_its_number() {
    let ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    let refused = ogene
        .send(with(to(MTN, "Vote A or B"), json!({ "from": "32811" })))
        .await;
    assert_eq!(
        refused.code(),
        "API-2011",
        "the number is not its sender yet"
    );
    route(&ogene, "32811", None).await;
    let ask = async |body: &str| {
        until("the number is a sender", async || {
            let fields = with(to(MTN, body), json!({ "from": "32811" }));
            let answer = ogene.send(fields).await;
            (answer.status == 200).then(|| {
                answer.json()["data"]["message_id"]
                    .as_str()
                    .map(str::to_owned)
            })
        })
        .await
    };
    ask("Vote A or B").await;
    let last = ask("Vote A, B or C").await;
    ogene
        .sent(with(to(MTN, "Other"), json!({ "from": SENDER })))
        .await;
    ogene.smsc().send("ogene", inbound("32811", 0, b"A"));
    let found = kept(&ogene, 1).await;
    assert_eq!(found[0].in_reply_to.map(|id| id.to_string()), last);
    ogene.end().await;
}

#[tokio::test]
async fn a_customer_lists_its_own_messages_and_routes() {
    let ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    let other = ogene.customer("5").await;
    let all = route(&ogene, "32811", None).await;
    let promo = route(&ogene, "32811", Some("Promo")).await;
    ogene.bound("mtn", 1).await;
    for (count, message) in (1..).zip([
        inbound("32811", 0, b"Promo 7"),
        page("32811", (9, 2, 1), b"Hello"),
        page("32811", (9, 2, 2), b" there"),
        inbound("99999", 0, b"Promo"),
    ]) {
        ogene.smsc().send("ogene", message);
        answered(&ogene, count).await;
    }
    kept(&ogene, 3).await;
    let list = async |token: &str, path: &str| {
        let answer = ogene.ask(&Request::get(path).bearer(token)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["data"].clone()
    };
    let token = ogene.shop.token.clone();
    let first = list(&token, "/api/v2/inbound?limit=1").await;
    let newest = &first["items"][0];
    assert_eq!(newest["body"], "Hello there");
    assert_eq!(
        (&newest["from"], &newest["to"]),
        (&json!(MTN), &json!("32811"))
    );
    assert_eq!(newest["keyword"], json!(null));
    assert_eq!(newest["complete"], true);
    assert_eq!(newest["in_reply_to"], json!(null));
    let cursor = first["next_cursor"].as_str().expect("a second page");
    let path = format!("/api/v2/inbound?limit=1&cursor={cursor}");
    let second = list(&token, &path).await;
    assert_eq!(second["items"][0]["body"], "Promo 7");
    assert_eq!(second["next_cursor"], json!(null));
    let filtered = list(
        &token,
        "/api/v2/inbound?keyword=PROMO&number=32811&sender=08031234567",
    );
    let filtered = filtered.await;
    assert_eq!(filtered["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(filtered["items"][0]["keyword"], "promo");
    let routes = list(&token, "/api/v2/inbound/routes").await;
    let mut ids = [
        &routes["items"][0]["route_id"],
        &routes["items"][1]["route_id"],
    ];
    ids.sort_by_key(|id| id.as_str() != Some(&all.id));
    assert_eq!(ids, [&json!(all.id), &json!(promo.id)]);
    let page = list(&token, "/api/v2/inbound/routes?limit=1").await;
    let cursor = page["next_cursor"].as_str().expect("a second page");
    let path = format!("/api/v2/inbound/routes?limit=1&cursor={cursor}");
    let rest = list(&token, &path).await;
    assert_ne!(rest["items"][0]["route_id"], page["items"][0]["route_id"]);
    assert_eq!(rest["next_cursor"], json!(null));
    for (token, root) in [(&other.token, "/api/v2"), (&token, "/api/sandbox/v2")] {
        for path in ["/inbound", "/inbound/routes"] {
            let found = list(token, &format!("{root}{path}")).await;
            assert_eq!(found["items"], json!([]), "{root}{path}");
        }
    }
    let wrong = Request::get("/api/v2/inbound?number=Ogene").bearer(&token);
    assert_eq!(ogene.ask(&wrong).await.code(), "API-2000");
    ogene.end().await;
}

#[tokio::test]
async fn an_inbound_message_is_posted_until_it_is_taken() {
    let mut ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    let receiver = Receiver::start().await;
    ogene.bound("mtn", 1).await;
    // The service knows the secret from its start.
    ogene.stop().await;
    let store = ogene.store().await;
    let signed = operations(&store).callbacks().create_secret(ogene.shop.id);
    signed.await.expect("a secret");
    store.close().await;
    ogene.serve().await;
    let promo = route_to(&ogene, "32811", Some("Promo"), Some(&receiver.url)).await;
    assert_eq!(promo.url.as_deref(), Some(&*receiver.url));
    route(&ogene, "32811", None).await;
    ogene.bound("mtn", 2).await;
    receiver.react([Reaction::Status(500)]);
    ogene.smsc().send("ogene", inbound("32811", 0, b"No"));
    kept(&ogene, 1).await;
    ogene
        .smsc()
        .send("ogene", page("32811", (9, 2, 2), b"\"7\""));
    ogene
        .smsc()
        .send("ogene", page("32811", (9, 2, 1), b"PROMO "));
    let calls = receiver.called(2).await;
    assert_eq!(calls[0].text, calls[1].text, "the same each time");
    let found = kept(&ogene, 2).await.remove(1);
    let id = found.id.to_string();
    assert_eq!(
        calls[1].json(),
        json!({
            "event": "inbound", "inbound_id": id, "to": "32811", "from": MTN,
            "body": "PROMO \"7\"", "keyword": "promo", "complete": true, "in_reply_to": null,
            "received_at": domain::time::lagos_time(found.received_at_ms),
        })
    );
    let header = |call: usize, name: &str| calls[call].headers[name].to_str().unwrap_or_default();
    assert_eq!(header(0, "webhook-id"), header(1, "webhook-id"));
    assert!(header(1, "webhook-signature").starts_with("v1,"));
    ogene.end().await;
}

#[tokio::test]
async fn a_dead_callback_of_an_inbound_message_is_replayed() {
    let ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    let receiver = Receiver::start().await;
    route_to(&ogene, "32811", None, Some(&receiver.url)).await;
    ogene.bound("mtn", 1).await;
    receiver.react([Reaction::Status(404)]);
    ogene.smsc().send("ogene", inbound("32811", 0, b"Yes"));
    let refused = receiver.called(1).await.remove(0);
    let store = ogene.store().await;
    let dead = until("the callback is dead", async || {
        let (callbacks, page) = (operations(&store).callbacks(), PageRequest::default());
        let dead = callbacks.dead(ogene.shop.id, &page).await.expect("a list");
        dead.items.into_iter().next()
    })
    .await;
    assert_eq!(&*dead.url, receiver.url);
    assert_eq!(dead.event.status(), None);
    assert_eq!(dead.message.to_string(), refused.field("inbound_id"));
    assert_eq!(dead.recipient.to_string(), "32811");
    let which = Replay {
        message: Some(dead.message),
        ..Replay::default()
    };
    let replayed = operations(&store).callbacks().replay(&which).await;
    assert_eq!(replayed.expect("a number"), 1);
    store.close().await;
    assert_eq!(receiver.called(2).await[1].text, refused.text);
    ogene.end().await;
}

#[tokio::test]
async fn a_kill_loses_no_callback_of_an_inbound_message() {
    let mut ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    let receiver = Receiver::start().await;
    route_to(&ogene, "32811", None, Some(&receiver.url)).await;
    ogene.bound("mtn", 1).await;
    receiver.react([Reaction::Silence]);
    ogene.smsc().send("ogene", inbound("32811", 0, b"Yes"));
    let first = receiver.called(1).await.remove(0);
    ogene.kill().await;
    ogene.serve().await;
    assert_eq!(receiver.called(2).await[1].text, first.text);
    assert_eq!(texts(&kept(&ogene, 1).await), ["Yes"]);
    ogene.end().await;
}

const ROUTES: &str = "/api/v2/inbound/routes";

/// Posts a route of the shop under an idempotency key.
async fn post_route(ogene: &Ogene, path: &str, key: &str, fields: &Value) -> Answer {
    let post = Request::post(path).bearer(&ogene.shop.token);
    ogene
        .ask(&post.header("idempotency-key", key).json(fields))
        .await
}

#[tokio::test]
async fn a_customer_adds_routes_of_its_own_numbers_only() {
    let ogene = Ogene::start().await;
    let other = ogene.customer("5").await;
    route(&ogene, "32811", None).await;
    let fields = RouteFields {
        number: "32811".to_owned(),
        keyword: Some("promo".to_owned()),
        ..RouteFields::default()
    };
    let store = ogene.store().await;
    let taken = operations(&store).inbound();
    taken.add_route(other.id, &fields).await.expect("a route");
    store.close().await;
    let vote = json!({"number": 32811, "keyword": " Vote!"});
    let added = post_route(&ogene, ROUTES, "one", &vote).await;
    assert_eq!(added.status, 200, "{}", added.text());
    let data = &added.json()["data"];
    assert_eq!(
        (
            &data["number"],
            &data["keyword"],
            &data["url"],
            &data["given"]
        ),
        (&json!("32811"), &json!("vote"), &Value::Null, &json!(false))
    );
    let again = post_route(&ogene, ROUTES, "one", &vote).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.json(), added.json());
    let changed = json!({"number": "32811", "keyword": "other"});
    let changed = post_route(&ogene, ROUTES, "one", &changed).await;
    assert_eq!(changed.code(), "API-2016");
    let url = "ftp://shop.example.ng";
    for (fields, code) in [
        (json!({"number": "32812"}), "API-2007"),
        (json!({"number": "32811", "keyword": "PROMO"}), "API-2019"),
        (json!({"keyword": "vote"}), "API-2000"),
        (json!({"number": "32811", "keyword": "?"}), "API-2000"),
        (json!({"number": "32811", "url": url}), "API-2000"),
    ] {
        let refused = post_route(&ogene, ROUTES, "two", &fields).await;
        assert_eq!(refused.code(), code, "{fields}");
    }
    let simulated = post_route(&ogene, "/api/sandbox/v2/inbound/routes", "two", &vote);
    assert_eq!(simulated.await.code(), "API-4050");
    ogene.end().await;
}

#[tokio::test]
async fn a_customer_changes_and_removes_its_routes() {
    let ogene = Setup::new().set("carriers.mtn.binds", "1").start().await;
    let receiver = Receiver::start().await;
    let given = route(&ogene, "32811", None).await;
    let vote = json!({"number": "32811", "keyword": "vote", "url": receiver.url});
    let added = post_route(&ogene, ROUTES, "one", &vote).await;
    ogene.bound("mtn", 1).await;
    ogene.smsc().send("ogene", inbound("32811", 0, b"Vote A"));
    assert_eq!(receiver.called(1).await[0].field("body"), "Vote A");
    let remove = async |id: &str| {
        let remove = Request::new("DELETE", &format!("{ROUTES}/{id}"));
        ogene.ask(&remove.bearer(&ogene.shop.token)).await
    };
    let data = &added.json()["data"];
    let id = data["route_id"].as_str().expect("an id");
    assert_eq!(remove(id).await.json()["data"], json!({"route_id": id}));
    assert_eq!(remove(id).await.code(), "API-2007");
    assert_eq!(remove(&given.id).await.code(), "API-2019");
    let all = json!({"number": "32811", "url": receiver.url});
    let changed = post_route(&ogene, ROUTES, "two", &all).await;
    let data = &changed.json()["data"];
    assert_eq!(
        (&data["route_id"], &data["url"], &data["given"]),
        (&json!(given.id), &json!(receiver.url), &json!(true))
    );
    ogene.smsc().send("ogene", inbound("32811", 0, b"Vote B"));
    assert_eq!(receiver.called(2).await[1].field("body"), "Vote B");
    ogene.end().await;
}
