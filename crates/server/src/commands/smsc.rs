//! `ogene smsc`: a carrier to test against, on real SMPP.

use super::answer::{Answer, Failure, pairs};
use super::context::Context;
use super::signals;
use crate::logs;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use engine::Clock;
use serde_json::json;
use smpp::simulator::{
    self, BindRules, Delay, Fate, Fault, Inbound, InboundForm, InboundOrder, InboundScript, Quirk,
    ReceiptDates, ReceiptForm, ReceiptLabels, ReceiptStyle, Rule, Script, Stats,
};
use smpp::{CommandStatus, ReceiptIds};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::interval;

/// The interval at which changed figures are shown.
const STATS_INTERVAL: Duration = Duration::from_secs(1);
/// Receipts write the time of Lagos, an hour ahead of UTC.
const LAGOS_OFFSET_S: u64 = 3_600;

const EXAMPLES: &str = "\
A fate is a receipt state (delivrd, undeliv, expired, rejectd, deleted, unknown, acceptd, enroute), or pending \
(no receipt ever), silence (no response), drop (the connection is dropped), or refuse:STATUS (such as refuse:0x0B).

Examples:
  ogene smsc
  ogene smsc --mix delivrd=90,undeliv=8,pending=2 --receipt-delay 1s..5s
  ogene smsc --rule 0002=undeliv --rule 0009=refuse:0x0B --fault 100=throttle
  ogene smsc --rule 0002=refuse:0x58 --fault 1000=unbind --fault 5000=flood:20000 --quirk long-error
  ogene smsc --account ogene:secret --max-binds 2 --receipt-ids hex-response-decimal-receipt --quirk duplicate,shuffle
  ogene smsc --receipt-form text --quirk ucs2,two-parts
  ogene smsc --inbound '2348031234567:32811:PROMO yes' --inbound '2348051234567:32811:STOP' --inbound-delay 5s
  ogene smsc --inbound \"2348031234567:32811:$(cat long-text)\" --inbound-form udh --inbound-order shuffled --inbound-again

SIGTERM or Ctrl-C stops the simulator, which then prints its counts.";

/// The behaviour of the simulator.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Smsc {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:2775")]
    listen: SocketAddr,
    #[command(flatten)]
    outcomes: Outcomes,
    #[command(flatten)]
    binds: Binds,
    #[command(flatten)]
    receipts: Receipts,
    #[command(flatten)]
    inbound: InboundMessages,
    /// Equal seeds make equal choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Args)]
#[command(next_help_heading = "Fates of messages")]
struct Outcomes {
    /// Fate of destinations with this ending; may be repeated, and the first match counts
    #[arg(long = "rule", value_name = "SUFFIX=FATE", value_parser = simulator::parse_rule)]
    rules: Vec<Rule>,
    /// Fates of all other destinations, by weight
    #[arg(long, value_name = "FATE=WEIGHT,…", default_value = "delivrd=1", value_parser = parse_mix)]
    mix: Mix,
    /// Delay of a response: a time, or a range such as 10ms..200ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = simulator::parse_delay)]
    response_delay: Delay,
    /// Delay of a receipt after its response; a range mixes their order
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = simulator::parse_delay)]
    receipt_delay: Delay,
    /// Fault at every Nth submit of a connection: throttle, queue-full, refuse:STATUS, silence,
    /// lose-response, no-id, drop, half-open, wrong-sequence, garbage, broken-length, flood:COUNT
    /// (receipts of unknown messages), unbind (an unbind, with responses half a second later); may be
    /// repeated
    #[arg(long = "fault", value_name = "N=FAULT", value_parser = simulator::parse_fault)]
    faults: Vec<(u64, Fault)>,
    /// Submits a second of a connection; further ones are throttled (0x58)
    #[arg(long, value_name = "N")]
    max_per_second: Option<u32>,
    /// Refuse every message that has a `validity_period` (0x62)
    #[arg(long)]
    refuse_validity: bool,
    /// Leave this many submits unanswered, then drop the connection
    #[arg(long, value_name = "N")]
    drop_at_window: Option<usize>,
}

#[derive(Args)]
#[command(next_help_heading = "Binds")]
struct Binds {
    /// Account that may bind; may be repeated [default: all may bind]
    #[arg(long = "account", value_name = "SYSTEM_ID:PASSWORD", value_parser = account)]
    accounts: Vec<(String, String)>,
    /// Maximum number of simultaneous binds of one `system_id`
    #[arg(long = "max-binds", value_name = "N")]
    most: Option<usize>,
    /// Refuse every bind with this status, such as 0x0D
    #[arg(long = "refuse-binds", value_name = "STATUS", value_parser = simulator::parse_status)]
    refused_with: Option<CommandStatus>,
    /// Leave `sc_interface_version` out, like SMPP 3.3
    #[arg(long)]
    hide_version: bool,
    /// Leave `enquire_link` unanswered
    #[arg(long)]
    ignore_enquire_link: bool,
}

#[derive(Args)]
#[command(next_help_heading = "Form of receipts")]
struct Receipts {
    /// Place of id and state in a receipt
    #[arg(long, default_value = "both", value_parser = one_of(ReceiptForm::WORDS))]
    receipt_form: ReceiptForm,
    /// Difference of a receipt's id from that of its response
    #[arg(long, default_value = "exact", value_parser = one_of(&ReceiptIds::WORDS))]
    receipt_ids: ReceiptIds,
    /// Digits of the dates in a receipt
    #[arg(long, default_value = "10", value_parser = one_of(&DATES))]
    receipt_dates: ReceiptDates,
    /// Labels in the text of a receipt
    #[arg(long, default_value = "usual", value_parser = one_of(ReceiptLabels::WORDS))]
    receipt_labels: ReceiptLabels,
    /// Oddities of receipts, with commas between them; long-error and long-address have 60,000
    /// characters, overlong is a PDU of more than 64 KiB
    #[arg(long = "quirk", value_delimiter = ',', value_parser = one_of(Quirk::WORDS))]
    quirks: Vec<Quirk>,
    /// In-flight window of receipts on a connection
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    receipt_window: usize,
}

#[derive(Args)]
#[command(next_help_heading = "Inbound messages")]
struct InboundMessages {
    /// Text of a subscriber to a number of ours; may be repeated. Each client (`system_id`) gets them
    /// once, when it first binds to receive
    #[arg(long = "inbound", value_name = "FROM:TO:TEXT", value_parser = simulator::parse_inbound)]
    messages: Vec<Inbound>,
    /// Form: one PDU (whole, or payload for `message_payload`), or pages that are joined by user data
    /// headers (udh, udh-wide with a reference of 16 bits) or by SAR parameters (sar)
    #[arg(long, default_value = "whole", value_parser = one_of(InboundForm::WORDS))]
    inbound_form: InboundForm,
    /// Order of the pages of a message
    #[arg(long, default_value = "forward", value_parser = one_of(InboundOrder::WORDS))]
    inbound_order: InboundOrder,
    /// Delay from the bind to the first message, and between messages: a time, or a range
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = simulator::parse_delay)]
    inbound_delay: Delay,
    /// Close each connection once the messages on it are answered, and deliver the same PDUs again on
    /// the next one, as if the answers were lost
    #[arg(long)]
    inbound_again: bool,
}

const DATES: [(&str, ReceiptDates); 3] = [
    ("10", ReceiptDates::Ten),
    ("12", ReceiptDates::Twelve),
    ("14", ReceiptDates::Fourteen),
];

/// Fates by weight.
#[derive(Clone)]
struct Mix(Vec<(u32, Fate)>);

fn parse_mix(text: &str) -> Result<Mix, String> {
    simulator::parse_mix(text).map(Mix)
}

fn account(text: &str) -> Result<(String, String), String> {
    let (system_id, password) = text.split_once(':').ok_or("write SYSTEM_ID:PASSWORD")?;
    Ok((system_id.to_owned(), password.to_owned()))
}

fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|text| {
        let found = values.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or(text)
    })
}

impl Smsc {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let json = context.global.json;
        let stop = signals::stop_or_hangup()?;
        let listener = TcpListener::bind(self.listen).await.map_err(|error| {
            Failure::new(format!(
                "cannot listen on {}: {error}; choose another --listen",
                self.listen
            ))
        })?;
        let smsc = simulator::Smsc::listen(listener, self.script(&Clock::system()))?;
        let address = smsc.address();
        let started = if json {
            json!({ "listening": address }).to_string()
        } else {
            format!("SMPP on {address}")
        };
        logs::print(&started);
        tokio::select! {
            () = stop => {}
            () = show_stats(&smsc, json) => {}
        }
        let stats = smsc.stop().await;
        let lines: Vec<_> = figures(&stats)
            .map(|(name, count)| (name, count.to_string()))
            .into();
        Answer::new(pairs(&lines), &json_of(&stats))
    }

    fn script(self, clock: &Clock) -> Script {
        let Self {
            outcomes,
            binds,
            receipts,
            inbound,
            seed,
            ..
        } = self;
        Script {
            rules: outcomes.rules,
            mix: outcomes.mix.0,
            response_delay: outcomes.response_delay,
            receipt_delay: outcomes.receipt_delay,
            receipts: ReceiptStyle {
                form: receipts.receipt_form,
                ids: receipts.receipt_ids,
                dates: receipts.receipt_dates,
                labels: receipts.receipt_labels,
                quirks: receipts.quirks,
            },
            faults: outcomes.faults,
            max_per_second: outcomes.max_per_second,
            drop_at_window: outcomes.drop_at_window,
            refuse_validity: outcomes.refuse_validity,
            binds: BindRules {
                accounts: binds.accounts,
                refuse: binds.refused_with,
                max: binds.most,
                hide_version: binds.hide_version,
            },
            ignore_enquire_link: binds.ignore_enquire_link,
            receipt_window: receipts.receipt_window,
            inbound: InboundScript {
                messages: inbound.messages,
                form: inbound.inbound_form,
                order: inbound.inbound_order,
                delay: inbound.inbound_delay,
                again: inbound.inbound_again,
            },
            // Ids grow over restarts, so that two runs never return the same one.
            last_message_id: clock.now_ms().unsigned_abs() * 1_000,
            started_at_s: clock.now_ms().unsigned_abs() / 1_000 + LAGOS_OFFSET_S,
            seed,
            ..Script::default()
        }
    }
}

/// Writes a line in each second in which something happened.
async fn show_stats(smsc: &simulator::Smsc, json: bool) {
    let mut ticks = interval(STATS_INTERVAL);
    let mut before = Stats::default();
    loop {
        ticks.tick().await;
        let now = smsc.stats();
        if now == before {
            continue;
        }
        let line = if json {
            json_of(&now).to_string()
        } else {
            format!(
                "{} submits/s, {} receipts/s; in all {} binds, {} submits, {} refused, {} receipts, {} waiting",
                now.submits - before.submits,
                now.answered - before.answered,
                now.binds,
                now.submits,
                now.refused,
                now.answered,
                smsc.waiting(),
            )
        };
        logs::print(&line);
        before = now;
    }
}

fn figures(stats: &Stats) -> [(&'static str, u64); 11] {
    [
        ("connections", stats.connections),
        ("binds", stats.binds),
        ("refused_binds", stats.refused_binds),
        ("submits", stats.submits),
        ("accepted", stats.accepted),
        ("refused", stats.refused),
        ("delivered", stats.delivered),
        ("answered", stats.answered),
        ("put_back", stats.put_back),
        ("lost", stats.lost),
        ("odd_pdus", stats.odd_pdus),
    ]
}

fn json_of(stats: &Stats) -> serde_json::Value {
    let figures = figures(stats).into_iter();
    figures
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
