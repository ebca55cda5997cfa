//! Carriers that keep the protocol in part: fields without a limit, one recipient refused for ever,
//! an unbind with responses after it. Other work goes on, and nothing is sent twice.

use crate::kit::wire::{count, good, receipt, rule};
use crate::kit::{GLO, MTN, Ogene, SENDER, Setup, numbers, to, until, with};
use serde_json::json;
use smpp::simulator::{BindRules, Delay, Fate, Fault, Quirk, ReceiptStyle, Script};
use smpp::{CommandStatus, ReceiptState};
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::Instant;

/// Maximum wait for a delivery while another carrier, or another recipient, is odd. It is short for
/// an idle machine, and long for a busy one.
const OTHERS_WAIT: Duration = Duration::from_secs(20);

/// Receipts with an oddity.
fn odd(quirk: Quirk) -> ReceiptStyle {
    ReceiptStyle {
        quirks: vec![quirk],
        ..ReceiptStyle::default()
    }
}

/// One carrier sends as many receipts of unknown messages as it can, while another has messages to
/// deliver.
async fn floods(quirk: Quirk) {
    const RECEIPTS: u32 = 2_000;
    let flood = Script {
        faults: vec![(1, Fault::Flood(RECEIPTS))],
        receipts: odd(quirk),
        ..Script::default()
    };
    let ogene = Setup::new()
        .carrier("loud", flood)
        .set("carriers.loud.binds", "1")
        .set("gateways.direct-corporate.carriers", r#"["loud"]"#)
        .start()
        .await;
    let loud = with(to(GLO, "Hello"), json!({"gateway": "direct-corporate"}));
    let id = ogene.sent_id(loud).await;
    ogene.received_by("loud", 1).await;
    let mut texts = 0;
    while ogene.smsc_of("loud").stats().answered < u64::from(RECEIPTS) {
        let asked = Instant::now();
        texts += 1;
        let other = ogene.sent_id(to(MTN, &format!("Text {texts}"))).await;
        assert_eq!(ogene.outcome(&other).await, ["delivrd"]);
        assert!(asked.elapsed() < OTHERS_WAIT, "{:?}", asked.elapsed());
    }
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let longest = ogene.sql(
        "select count(*), max(length(error)) <= 32, max(length(sender)) <= 21, max(length(carrier_id)) <= 300 from \
         parked_receipts",
    );
    let longest = longest.replace(['1', 't'], "1");
    assert_eq!(longest, format!("{RECEIPTS}|1|1|1"));
    ogene.end().await;
}

#[tokio::test]
async fn a_flood_of_long_error_codes_holds_up_no_other_carrier() {
    floods(Quirk::LongError).await;
}

#[tokio::test]
async fn a_flood_of_long_addresses_holds_up_no_other_carrier() {
    floods(Quirk::LongAddress).await;
}

#[tokio::test]
async fn a_recipient_that_is_refused_for_good_holds_up_no_other() {
    for status in [
        CommandStatus::RTHROTTLED,
        CommandStatus::RMSGQFUL,
        CommandStatus::RINVBNDSTS,
    ] {
        let refused = "2348031239999";
        let ogene = Setup::new()
            .set("carriers.mtn.binds", "1")
            .set("carriers.mtn.window", "10")
            .set("carriers.mtn.max_per_second", "10")
            .script(Script {
                rules: vec![rule("9999", Fate::Refuse(status))],
                ..Script::default()
            })
            .start()
            .await;
        ogene.bound("mtn", 1).await;
        let first = ogene.sent_id(to(refused, "Hello")).await;
        ogene.received(1).await;
        let asked = Instant::now();
        let others = ogene.campaign(40).await;
        assert_eq!(ogene.outcome(&others).await, vec!["delivrd"; 40]);
        assert!(
            asked.elapsed() < OTHERS_WAIT,
            "{status}: {:?}",
            asked.elapsed()
        );
        let tries = count(&ogene.smsc().received(), refused);
        assert!(tries <= 6, "{status}: {tries} tries");
        ogene.smsc().set_script(good());
        assert_eq!(ogene.outcome(&first).await, ["delivrd"]);
        ogene.end().await;
    }
}

#[tokio::test]
async fn responses_after_an_unbind_are_read_and_nothing_is_resent() {
    let ogene = Setup::new()
        .set("carriers.mtn.binds", "1")
        .set("carriers.mtn.window", "10")
        .script(Script {
            faults: vec![(10, Fault::Unbind)],
            response_delay: Delay::fixed(Duration::from_millis(400)),
            ..Script::default()
        })
        .start()
        .await;
    ogene.bound("mtn", 1).await;
    let id = ogene.campaign(10).await;
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 10]);
    ogene.bound("mtn", 2).await;
    let received = ogene.smsc().received();
    for number in numbers(10) {
        assert_eq!(count(&received, &number), 1, "{number}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_carrier_may_give_a_password_of_64_characters() {
    let password = "pa55word".repeat(8);
    let ogene = Setup::new()
        .script(Script {
            binds: BindRules {
                accounts: vec![("ogene".to_owned(), password.clone())],
                ..BindRules::default()
            },
            ..Script::default()
        })
        .set("carriers.mtn.password", &format!("{password:?}"))
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    ogene.end().await;
}

#[tokio::test]
async fn a_carrier_that_refuses_every_validity_is_asked_for_none() {
    let ogene = Setup::new()
        .script(Script {
            refuse_validity: true,
            ..Script::default()
        })
        .set("carriers.mtn.send_validity", "false")
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let received = ogene.smsc().received();
    assert_eq!(received[0].submit.validity_period, "");
    ogene.end().await;
}

#[tokio::test]
async fn a_deliver_sm_over_64_kib_is_answered_and_ends_no_connection() {
    let ogene = Setup::new()
        .script(Script {
            receipts: odd(Quirk::Overlong),
            rules: vec![rule("0", receipt(ReceiptState::Undeliverable))],
            ..Script::default()
        })
        .start()
        .await;
    ogene.bound("mtn", 2).await;
    let id = ogene.campaign(20).await;
    let outcome = ogene.outcome(&id).await;
    let undelivered = outcome.iter().filter(|status| *status == "undeliv");
    assert_eq!((outcome.len(), undelivered.count()), (20, 2));
    until("all of them are answered", async || {
        (ogene.smsc().stats().answered == 20).then_some(())
    })
    .await;
    assert_eq!(ogene.smsc().stats().connections, 2);
    ogene.end().await;
}

/// Serves in a process of its own until a condition holds. Returns its log.
pub(crate) async fn logged(
    ogene: &mut Ogene,
    until_then: impl AsyncFn(&Ogene) -> Option<()>,
) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let (file, log) = (
        directory.path().join("ogene.toml"),
        directory.path().join("log"),
    );
    let settings = ogene.settings("http.listen = \"127.0.0.1:0\"\n");
    std::fs::write(&file, settings).expect("written");
    let mut process = Command::new(env!("CARGO_BIN_EXE_ogene"))
        .args(["serve", "--config"])
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(File::create(&log).expect("a log"))
        .spawn()
        .expect("it starts");
    let read = || std::fs::read_to_string(&log).expect("a log");
    ogene.address = until("it serves", async || {
        let text = read();
        let (_, rest) = text.split_once("http://")?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':')?;
        rest[..end].parse().ok()
    })
    .await;
    until("it is done", async || until_then(ogene).await).await;
    process.kill().expect("killed");
    process.wait().expect("ended");
    read()
}

#[tokio::test]
async fn the_first_refusal_with_each_status_is_logged_with_its_number() {
    let mut ogene = Setup::new()
        .carrier(
            "mtn",
            Script {
                rules: vec![
                    rule("0", Fate::Refuse(CommandStatus(0x401))),
                    rule("1", Fate::Refuse(CommandStatus(0x4FF))),
                    rule("2", Fate::Refuse(CommandStatus::RINVEXPIRY)),
                ],
                ..Script::default()
            },
        )
        .start()
        .await;
    ogene.stop().await;
    let log = logged(&mut ogene, async |ogene| {
        let answer = ogene
            .send(json!({"from": SENDER, "to": numbers(33), "body": "Dear customer"}))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        until("each was refused and counted", async || {
            let mut counts = Vec::new();
            for status in ["vendor (0x401)", "vendor (0x4FF)", "ESME_RINVEXPIRY (0x62)"] {
                let status = format!("status=\"{status}\"");
                counts.push(ogene.metric("ogene_responses_total{", &[&status]).await);
            }
            counts.iter().all(|count| *count >= 3).then_some(())
        })
        .await;
        Some(())
    })
    .await;
    let lines = |part: &str| log.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("vendor (0x401)"), 1, "{log}");
    assert_eq!(lines("vendor (0x4FF)"), 1, "{log}");
    assert_eq!(lines("ESME_RINVEXPIRY (0x62)"), 1, "{log}");
    assert_eq!(lines("set `send_validity = false`"), 1, "{log}");
    ogene.end().await;
}
