//! Webhooks, return pages and the search for payments: one credit, whatever arrives how often and
//! in which order (docs/spec/payments.md, section 2).

use crate::kit::http::{Request, try_ask};
use crate::kit::provider::{Kind, Mood, Provider};
use crate::kit::{Ogene, Setup, until};
use crate::top_ups::{TOP_UPS, created, post, read};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The total of a top-up of 1,000 naira, in kobo.
const TOTAL: i64 = 107_500;

fn text<'a>(top_up: &'a Value, name: &str) -> &'a str {
    top_up[name].as_str().expect("a text")
}

async fn state(ogene: &Ogene, top_up: &Value) -> String {
    let path = format!("{TOP_UPS}/{}", text(top_up, "top_up_id"));
    text(&read(ogene, &path).await, "state").to_owned()
}

async fn status(ogene: &Ogene, request: &Request) -> u16 {
    ogene.ask(request).await.status
}

/// Returns the credits of top-ups in the wallet, in naira.
async fn credited(ogene: &Ogene) -> f64 {
    ogene.read("/balance").await["balance"]["universal_wallet"]
        .as_f64()
        .expect("a number")
}

/// Starts an installation with one provider, which searches for payments once an hour.
async fn start(kind: Kind) -> (Provider, Ogene) {
    let provider = Provider::start(kind).await;
    let setup = provider.of(Setup::new()).set("payments.sweep", r#""1h""#);
    (provider, setup.start().await)
}

#[tokio::test]
async fn a_signed_webhook_credits_once_and_the_receipt_is_printed() {
    for kind in Kind::ALL {
        let (provider, ogene) = start(kind).await;
        let top_up = created(&ogene, TOP_UPS).await;
        let reference = text(&top_up, "reference");
        let hook = provider.hook(reference);
        provider.set(reference, TOTAL, |_| {});
        assert_eq!(status(&ogene, &hook).await, 200, "{kind:?}");
        assert_eq!(state(&ogene, &top_up).await, "pending", "{kind:?}");
        provider.pay(reference, TOTAL);
        for _ in 0..3 {
            assert_eq!(status(&ogene, &hook).await, 200, "{kind:?}");
        }
        assert_eq!(state(&ogene, &top_up).await, "paid", "{kind:?}");
        assert!((credited(&ogene).await - 1_000.0).abs() < 1e-9);
        let path = format!("{TOP_UPS}/{}/receipt", text(&top_up, "top_up_id"));
        let receipt = ogene
            .ask(&Request::get(&path).bearer(&ogene.shop.token))
            .await;
        assert!(receipt.text().contains("Receipt 1"), "{}", receipt.text());
        ogene.end().await;
    }
}

#[tokio::test]
async fn an_unsigned_webhook_is_refused_and_asks_nobody() {
    for kind in Kind::ALL {
        let (provider, ogene) = start(kind).await;
        let top_up = created(&ogene, TOP_UPS).await;
        let reference = text(&top_up, "reference");
        provider.pay(reference, TOTAL);
        let body = provider.hook_body(reference);
        let unsigned = provider.unsigned(&body);
        let names = [
            "x-paystack-signature",
            "verif-hash",
            "flutterwave-signature",
            "monnify-signature",
        ];
        let wrong = names.into_iter().fold(unsigned.clone(), |request, name| {
            request.header(name, "00ff")
        });
        for request in [&unsigned, &wrong] {
            assert_eq!(status(&ogene, request).await, 401, "{kind:?}");
        }
        // Version 3 of Flutterwave has the same signature for each body.
        if kind != Kind::FlutterwaveV3 {
            let (name, signature) = provider.signature(&provider.hook_body("ogene-0"));
            let of_another = unsigned.header(name, &signature);
            assert_eq!(status(&ogene, &of_another).await, 401, "{kind:?}");
        }
        let large = provider.unsigned(&" ".repeat((64 << 10) + 1));
        assert_eq!(status(&ogene, &large).await, 413, "{kind:?}");
        let nobody = Request::post("/hooks/payments/stripe").body("application/json", body);
        assert_eq!(status(&ogene, &nobody).await, 404, "{kind:?}");
        assert_eq!(provider.asked(), 0, "{kind:?}");
        assert_eq!(state(&ogene, &top_up).await, "pending", "{kind:?}");
        ogene.end().await;
    }
}

#[tokio::test]
async fn a_webhook_is_answered_503_while_the_provider_cannot_be_asked() {
    let (provider, ogene) = start(Kind::Monnify).await;
    let top_up = created(&ogene, TOP_UPS).await;
    let reference = text(&top_up, "reference");
    let hook = provider.hook(reference);
    // The provider has not written the payment yet.
    assert_eq!(status(&ogene, &hook).await, 503);
    provider.pay(reference, TOTAL);
    provider.be(Mood::Down);
    assert_eq!(status(&ogene, &hook).await, 503);
    assert_eq!(state(&ogene, &top_up).await, "pending");
    provider.be(Mood::Well);
    assert_eq!(status(&ogene, &hook).await, 200);
    assert_eq!(state(&ogene, &top_up).await, "paid");
    ogene.end().await;
}

#[tokio::test]
async fn a_payment_that_does_not_fit_is_kept_and_credits_nothing() {
    let (provider, ogene) = start(Kind::Paystack).await;
    let mut references = Vec::new();
    for lie in 0..3 {
        let top_up = created(&ogene, TOP_UPS).await;
        let reference = text(&top_up, "reference").to_owned();
        provider.set(&reference, TOTAL, |paid| {
            paid.is_done = true;
            match lie {
                0 => paid.kobo -= 1,
                1 => paid.currency = "USD".to_owned(),
                _ => paid.reference = "ogene-0".to_owned(),
            }
        });
        assert_eq!(status(&ogene, &provider.hook(&reference)).await, 200);
        assert_eq!(state(&ogene, &top_up).await, "mismatch", "{lie}");
        // Even the right payment does not change it then.
        provider.pay(&reference, TOTAL);
        assert_eq!(status(&ogene, &provider.hook(&reference)).await, 200);
        assert_eq!(state(&ogene, &top_up).await, "mismatch", "{lie}");
        references.push(reference);
    }
    provider.pay("T-foreign-1", 90_000);
    let foreign = provider.hook("T-foreign-1");
    for _ in 0..2 {
        assert_eq!(status(&ogene, &foreign).await, 200);
    }
    // The search does not know a payment that is on its way, so its webhook must be repeated.
    provider.set("T-foreign-3", TOTAL, |_| {});
    assert_eq!(status(&ogene, &provider.hook("T-foreign-3")).await, 503);
    // A payment that nobody made is nothing.
    assert_eq!(status(&ogene, &provider.hook("T-foreign-2")).await, 200);
    let kept = ogene.sql("select reference, mismatch from top_ups order by mismatch");
    let expected = format!(
        "{}|amount\n{}|currency\n{}|reference\nT-foreign-1|unknown_reference",
        references[0], references[1], references[2]
    );
    assert_eq!(kept, expected);
    assert!(credited(&ogene).await.abs() < 1e-9);
    ogene.end().await;
}

#[tokio::test]
async fn a_payment_of_each_provider_that_does_not_fit_is_kept() {
    for kind in [Kind::FlutterwaveV3, Kind::FlutterwaveV4, Kind::Monnify] {
        let (provider, ogene) = start(kind).await;
        for reason in ["amount", "currency", "reference"] {
            let top_up = created(&ogene, TOP_UPS).await;
            let reference = text(&top_up, "reference");
            provider.set(reference, TOTAL, |paid| {
                paid.is_done = true;
                match reason {
                    "amount" => paid.kobo += 1,
                    "currency" => paid.currency = "USD".to_owned(),
                    _ => paid.reference = "ogene-0".to_owned(),
                }
            });
            let hook = provider.hook(reference);
            assert_eq!(status(&ogene, &hook).await, 200, "{kind:?} {reason}");
            let found = state(&ogene, &top_up).await;
            assert_eq!(found, "mismatch", "{kind:?} {reason}");
        }
        let kept = ogene.sql("select mismatch from top_ups order by mismatch");
        let expected = ["amount", "currency", "reference"];
        assert_eq!(kept.lines().collect::<Vec<_>>(), expected, "{kind:?}");
        assert!(credited(&ogene).await.abs() < 1e-9, "{kind:?}");
        ogene.end().await;
    }
}

#[tokio::test]
async fn a_bonus_is_in_the_answer_and_credited_beside_the_amount() {
    let provider = Provider::start(Kind::Paystack).await;
    let setup = provider.of(Setup::new()).set("payments.sweep", r#""1h""#);
    let bonus = r#"[{ from = "1000.00", percent = "5" }]"#;
    let ogene = setup.set("payments.bonus", bonus).start().await;
    let less = post(&ogene, TOP_UPS, json!({"amount": "999.99"})).await;
    assert_eq!(less.json()["data"]["bonus"], 0.0, "{}", less.text());
    let top_up = created(&ogene, TOP_UPS).await;
    let shown = ["amount", "vat", "total", "bonus"].map(|name| top_up[name].to_string());
    assert_eq!(shown, ["1000.0", "75.0", "1075.0", "50.0"], "{top_up}");
    let components = async || {
        let balance = ogene.read("/balance").await["balance"].take();
        ["universal_wallet", "sms_bonus"].map(|name| balance[name].to_string())
    };
    assert_eq!(components().await, ["0.0", "0.0"]);
    let reference = text(&top_up, "reference");
    provider.pay(reference, TOTAL);
    for _ in 0..2 {
        let hook = provider.hook(reference);
        assert_eq!(status(&ogene, &hook).await, 200);
    }
    assert_eq!(components().await, ["1000.0", "50.0"]);
    ogene.end().await;
}

#[tokio::test]
async fn the_return_page_finds_the_payment_and_leads_back() {
    let (provider, ogene) = start(Kind::FlutterwaveV3).await;
    let fields = json!({"amount": 1000, "return_url": "https://shop.example.ng/a?b=1#c"});
    let top_up = post(&ogene, TOP_UPS, fields).await.json()["data"].take();
    let plain = created(&ogene, TOP_UPS).await;
    let page =
        |top_up: &Value| Request::get(&format!("/payments/return/{}", text(top_up, "top_up_id")));
    provider.be(Mood::Down);
    let waiting = ogene.ask(&page(&plain)).await;
    assert!(
        waiting.text().contains("not confirmed yet"),
        "{}",
        waiting.text()
    );
    provider.be(Mood::Well);
    for top_up in [&top_up, &plain] {
        provider.pay(text(top_up, "reference"), TOTAL);
    }
    let led = ogene.ask(&page(&top_up)).await;
    let expected = format!(
        "https://shop.example.ng/a?b=1&top_up_id={}&state=paid",
        text(&top_up, "top_up_id")
    );
    assert_eq!(
        (led.status, led.header("location")),
        (303, Some(&*expected))
    );
    // The provider is not asked again at once.
    until("the page shows the payment", async || {
        let shown = ogene.ask(&page(&plain)).await;
        shown.text().contains("Payment received").then_some(())
    })
    .await;
    assert!((credited(&ogene).await - 2_000.0).abs() < 1e-9);
    let unknown = Request::get("/payments/return/01a1ee56-5e00-7707-8707-070707070707");
    assert_eq!(status(&ogene, &unknown).await, 404);
    ogene.end().await;
}

#[tokio::test]
async fn visits_of_a_return_page_ask_the_provider_once_a_second() {
    let (provider, ogene) = start(Kind::Paystack).await;
    let top_up = created(&ogene, TOP_UPS).await;
    provider.set(text(&top_up, "reference"), TOTAL, |_| {});
    let page = format!("/payments/return/{}", text(&top_up, "top_up_id"));
    let began = std::time::Instant::now();
    for _ in 0..50 {
        let shown = ogene.ask(&Request::get(&page)).await;
        assert!(
            shown.text().contains("not confirmed yet"),
            "{}",
            shown.text()
        );
    }
    let most = began.elapsed().as_secs() + 1;
    let asked = provider.asked();
    assert!(asked >= 1 && asked as u64 <= most, "{asked} of {most}");
    ogene.end().await;
}

#[tokio::test]
async fn webhooks_top_ups_and_calls_of_providers_are_counted() {
    let (provider, ogene) = start(Kind::Paystack).await;
    let top_up = created(&ogene, TOP_UPS).await;
    let other = created(&ogene, TOP_UPS).await;
    let reference = text(&top_up, "reference");
    let hook = provider.hook(reference);
    let body = provider.hook_body(reference);
    assert_eq!(status(&ogene, &provider.unsigned(&body)).await, 401);
    provider.be(Mood::Down);
    assert_eq!(status(&ogene, &hook).await, 503);
    provider.be(Mood::Well);
    provider.set(reference, TOTAL, |_| {});
    assert_eq!(status(&ogene, &hook).await, 200);
    provider.pay(reference, TOTAL);
    for _ in 0..3 {
        assert_eq!(status(&ogene, &hook).await, 200);
    }
    let less = text(&other, "reference");
    provider.pay(less, TOTAL - 1);
    assert_eq!(status(&ogene, &provider.hook(less)).await, 200);
    for (outcome, expected) in [
        ("unsigned", 1),
        ("not_confirmed", 1),
        ("not_paid", 1),
        ("credited", 1),
        ("repeated", 2),
        ("mismatch", 1),
        ("ignored", 0),
    ] {
        let labels = [r#"provider="paystack""#, &format!("outcome=\"{outcome}\"")];
        let counted = ogene.metric("ogene_payment_webhooks_total{", &labels).await;
        assert_eq!(counted, expected, "{outcome}");
    }
    for (state, expected) in [("pending", 2), ("paid", 1), ("mismatch", 1), ("failed", 0)] {
        let labels = [r#"provider="paystack""#, &format!("state=\"{state}\"")];
        let counted = ogene.metric("ogene_top_ups_total{", &labels).await;
        assert_eq!(counted, expected, "{state}");
    }
    // A call that finds a payment is repeated once after a failure.
    for (call, status, expected) in [("create", 200, 2), ("find", 200, 3), ("find", 502, 2)] {
        let labels = [
            &*format!("call=\"{call}\""),
            &*format!("status=\"{status}\""),
        ];
        let counted = ogene
            .metric("ogene_payment_call_seconds_count{", &labels)
            .await;
        assert_eq!(counted, expected, "{call} {status}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_search_finds_payments_and_ends_the_time_to_pay() {
    let provider = Provider::start(Kind::Paystack).await;
    let setup = provider.of(Setup::new());
    let setup = setup
        .set("payments.sweep", r#""1s""#)
        .set("payments.expires", r#""3s""#)
        .set("limits.reads_per_minute", "100000");
    let ogene = setup.start().await;
    let (paid, late) = (
        created(&ogene, TOP_UPS).await,
        created(&ogene, TOP_UPS).await,
    );
    provider.set(text(&late, "reference"), TOTAL, |_| {});
    provider.pay(text(&paid, "reference"), TOTAL);
    for (top_up, end) in [(&paid, "paid"), (&late, "expired")] {
        until(end, async || {
            (state(&ogene, top_up).await == end).then_some(())
        })
        .await;
    }
    // Nobody asks for it again, so a webhook that comes before its payment must be repeated.
    assert_eq!(
        status(&ogene, &provider.hook(text(&late, "reference"))).await,
        503
    );
    // Money that arrives after that is credited all the same.
    provider.pay(text(&late, "reference"), TOTAL);
    assert_eq!(
        status(&ogene, &provider.hook(text(&late, "reference"))).await,
        200
    );
    assert_eq!(state(&ogene, &late).await, "paid");
    // A silent provider leaves a top-up pending until its time is over.
    let silent = created(&ogene, TOP_UPS).await;
    provider.be(Mood::Down);
    let asked = provider.asked();
    until("its time is over", async || {
        (state(&ogene, &silent).await == "expired").then_some(())
    })
    .await;
    assert_eq!(provider.asked(), asked);
    ogene.end().await;
}

/// Number of payments and of webhooks for each. With `OGENE_LONG` there are more.
const SHUFFLED: (usize, usize) = (20, 10);
const MANY_SHUFFLED: (usize, usize) = (100, 100);
/// Number of requests at once. It is more than the calls of a provider at once, so that some webhooks
/// are refused and repeated.
const AT_ONCE: usize = 200;
/// The pause of a provider before it repeats a webhook.
const REPEATED_AFTER: Duration = Duration::from_millis(20);

/// Makes top-ups, and pays them. Returns the webhooks and the return pages.
async fn paid_top_ups(
    provider: &Provider,
    ogene: &Ogene,
    (payments, copies): (usize, usize),
) -> Vec<Request> {
    let mut requests = Vec::new();
    for _ in 0..payments {
        let top_up = created(ogene, TOP_UPS).await;
        let reference = text(&top_up, "reference").to_owned();
        let back = format!("/payments/return/{}", text(&top_up, "top_up_id"));
        let hook = provider.hook(&reference);
        provider.pay(&reference, TOTAL);
        let hooks = std::iter::repeat_n(hook, copies);
        requests.extend(hooks.chain([Request::get(&back)]));
    }
    requests
}

#[tokio::test]
async fn shuffled_webhooks_on_two_nodes_credit_each_payment_once() {
    let is_long = std::env::var_os("OGENE_LONG").is_some();
    let size = if is_long { MANY_SHUFFLED } else { SHUFFLED };
    let provider = Provider::start(Kind::Paystack).await;
    let setup = provider.of(Setup::new()).set("payments.sweep", r#""1s""#);
    let ogene = setup.set("limits.reads_per_minute", "100000").start().await;
    let other = ogene.join().await;
    let addresses = [
        ogene.address,
        other.as_ref().map_or(ogene.address, |node| node.address),
    ];
    let requests = paid_top_ups(&provider, &ogene, size).await;
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut asking = JoinSet::new();
    for place in 0..requests.len() {
        // A step that has no divisor in common with the count visits each once.
        let request = requests[place * 89 % requests.len()].clone();
        let (address, places) = (addresses[place % 2], Arc::clone(&places));
        asking.spawn(async move {
            let _place = places.acquire().await;
            // A provider repeats a webhook that was not taken.
            while try_ask(address, &request).await.expect("an answer").status != 200 {
                tokio::time::sleep(REPEATED_AFTER).await;
            }
        });
    }
    asking.join_all().await;
    let (payments, _) = size;
    let numbers = ogene.sql("select receipt_number from top_ups order by receipt_number");
    let expected: Vec<String> = (1..=payments).map(|number| number.to_string()).collect();
    assert_eq!(numbers.lines().collect::<Vec<_>>(), expected);
    let credits = ogene.sql("select count(*) from ledger where reference like 'ogene-%'");
    assert_eq!(credits, payments.to_string());
    let naira = u32::try_from(payments * 1_000).expect("some thousands");
    assert!((credited(&ogene).await - f64::from(naira)).abs() < 1e-6);
    if let Some(other) = other {
        other.stop().await;
    }
    ogene.end().await;
}
