//! Recipients that a send leaves out, and quiet hours that hold it, as its forms show them.

use super::file::uploaded;
use super::{Browser, leads_to, member};
use crate::kit::http::Answer;
use crate::kit::wire::count;
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, operations, until};
use domain::user::role::Role;
use engine::Clock;

const PATH: &str = "/console/send";
const OPTED_OUT: &str = "1 recipient who opted out will be left out, without a charge.";
const ON_DND: &str = "1 recipient on do-not-disturb (DND) will be left out, without a charge.";

fn shows(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

/// An installation where MTN has opted out and GLO is on DND, and a browser of the account.
async fn start() -> (Ogene, Browser) {
    let setup = Setup::new().set("gateways.direct-refund.respect_dnd", "true");
    let ogene = setup.start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let (new, list) = ("/console/opt-outs/new", "/console/opt-outs");
    leads_to(&owner.send(new, list, &[("recipient", MTN)]).await, list);
    let store = ogene.store().await;
    assert!(operations(&store).dnd().add(GLO).await.expect("a number"));
    store.close().await;
    (ogene, owner)
}

/// Returns the counter once the server knows the opt-out.
async fn counted(owner: &mut Browser, page: &str, fields: &[(&str, &str)]) -> Answer {
    let path = format!("{page}/count");
    until("the opt-out is counted", async || {
        let counter = owner.send(page, &path, fields).await;
        counter.text().contains(OPTED_OUT).then_some(counter)
    })
    .await
}

/// Sends, and returns the cost as figures show it.
async fn cost(ogene: &Ogene, owner: &mut Browser, path: &str, fields: &[(&str, &str)]) -> String {
    let before = ogene.total().await;
    let sent = owner.send(PATH, path, fields).await;
    assert_eq!(sent.status, 303, "{}", sent.text());
    let cost = before - ogene.total().await;
    assert!(cost > 0.0, "the send is charged");
    format!("₦{cost:.2}").replace('.', "<small>.")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_names_whom_it_leaves_out_and_bills_the_rest() {
    let (ogene, mut owner) = start().await;
    let to = [MTN, AIRTEL, GLO].join("\r\n");
    let texts = [
        ("from", SENDER),
        ("body", "Hello"),
        ("gateway", "direct-refund"),
    ];
    let mut fields = texts.to_vec();
    fields.push(("to", &to));
    let counter = counted(&mut owner, PATH, &fields).await;
    let review = owner.send(PATH, "/console/send/review", &fields).await;
    shows(
        &review,
        &[
            "Send to 1 recipient?",
            "<dt>Left out, opted out</dt><dd>1</dd>",
            "<dt>Left out, on do-not-disturb</dt><dd>1</dd>",
        ],
    );
    fields.push(("key", "warnings-1"));
    let cost = cost(&ogene, &mut owner, PATH, &fields).await;
    shows(&counter, &[ON_DND, &cost]);
    shows(&review, &[&cost.replace("<small>", "")]);
    ogene.received(1).await;
    let received = ogene.smsc().received();
    assert_eq!(
        [MTN, AIRTEL, GLO].map(|number| count(&received, number)),
        [0, 1, 0]
    );

    // A send that nobody is left of has a reason instead of a price.
    let mut fields = texts.to_vec();
    fields.push(("to", MTN));
    let counter = owner.send(PATH, "/console/send/count", &fields).await;
    shows(&counter, &["opted out"]);
    assert!(
        !counter.text().contains("Cost</span>"),
        "{}",
        counter.text()
    );
    let review = owner.send(PATH, "/console/send/review", &fields).await;
    assert_eq!(review.status, 422, "{}", review.text());
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_to_a_file_names_whom_the_gateway_leaves_out() {
    let (ogene, mut owner) = start().await;
    let rows = format!("Phone,Name\n{MTN},Ada\n{AIRTEL},Uche\n{GLO},Obi\n");
    let path = uploaded(&mut owner, &rows).await;
    let mut fields = vec![
        ("from", SENDER),
        ("body", "Dear {Name}"),
        ("gateway", "direct-refund"),
        ("mapped", "yes"),
        ("number", "0"),
        ("header", "yes"),
    ];
    let counter = counted(&mut owner, &path, &fields).await;
    let review = owner.send(&path, &format!("{path}/review"), &fields).await;
    shows(&review, &["Send to 1 recipient?", OPTED_OUT, ON_DND]);
    fields.extend([("key", "warnings-2"), ("messages", "1")]);
    let cost = cost(&ogene, &mut owner, &format!("{path}/send"), &fields).await;
    shows(&counter, &[ON_DND, &cost]);
    shows(&review, &[&cost]);
    ogene.end().await;
}

/// Quiet hours that began an hour ago and end in two, in Lagos.
fn quiet_now() -> String {
    let minute = u64::try_from(Clock::system().now_ms() / 60_000 + 60).expect("a time");
    let clock = |minute: u64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    format!("\"{}-{}\"", clock(minute - 60), clock(minute + 120))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_in_quiet_hours_shows_their_end_before_it_is_sent() {
    let setup = Setup::new().set("gateways.direct-refund.quiet_hours", &quiet_now());
    let ogene = setup.start().await;
    let (mut owner, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let with = |gateway| {
        [
            ("from", SENDER),
            ("to", MTN),
            ("body", "Your order is ready"),
            ("gateway", gateway),
            ("key", "quiet-1"),
        ]
    };
    let fields = with("direct-refund");
    let counter = owner.send(PATH, "/console/send/count", &fields).await;
    shows(&counter, &["It is held until ", ", when the quiet hours"]);
    let (_, rest) = counter.text().split_once("held until ").expect("a time");
    let (until, _) = rest.split_once(", when").expect("an end");
    let review = owner.send(PATH, "/console/send/review", &fields).await;
    shows(&review, &[&format!("It is held until {until}, when")]);
    assert!(!review.text().contains("at once"), "{}", review.text());
    let sent = owner.send(PATH, PATH, &fields).await;
    let message = sent.header("location").expect("a message").to_owned();
    let scheduled = format!("The message is scheduled for {until}.");
    shows(&owner.get(&message).await, &[&scheduled]);

    let fields = with("direct-corporate");
    let counter = owner.send(PATH, "/console/send/count", &fields).await;
    shows(&counter, &["Cost</span>"]);
    assert!(!counter.text().contains("held until"), "{}", counter.text());
    ogene.end().await;
}
