//! `ogene carrier`

use super::answer::{Answer, Failure, table};
use super::context::Context;
use crate::app;
use crate::config;
use crate::explanation::controlled;
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::carrier_control::{CarrierChange, CarrierControl};
use domain::{DeliveryStatus, Recipient, parse_international};
use engine::System;
use engine::operators::{ControlledCarrier, TestMessage, TestStep};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::time::Duration;

#[derive(Subcommand)]
pub(super) enum Carrier {
    /// List the configured carriers, and how an operator controls them
    #[command(
        after_help = "The mode is running, paused or drained. MAX_PER_SECOND is the throttle of an operator.\n\n\
        Example: ogene carrier list"
    )]
    List,
    /// Pause a carrier: within a second no node submits, and receipts are still read
    #[command(
        after_help = "Connections stay bound. Messages wait, expire by their validity, or go to the next carrier of their \
        gateway. The pause holds over restarts.\n\nExample: ogene carrier pause mtn"
    )]
    Pause {
        #[command(flatten)]
        one: One,
    },
    /// Drain a carrier: as a pause, and each connection ends once its submits are answered
    #[command(
        after_help = "The carrier keeps receipts until it is resumed, as it does for a client that is not bound.\n\n\
        Example: ogene carrier drain mtn"
    )]
    Drain {
        #[command(flatten)]
        one: One,
    },
    /// Resume a carrier: end its pause or drain, but not its throttle
    #[command(after_help = "Example: ogene carrier resume mtn")]
    Resume {
        #[command(flatten)]
        one: One,
    },
    /// Throttle a carrier below the rate of its configuration, or end that
    #[command(
        after_help = "The limit is for all nodes together, and holds over restarts. It never raises `max_per_second`.\n\n\
        Examples: ogene carrier throttle mtn --per-second 20\n          ogene carrier throttle mtn --per-second none"
    )]
    Throttle {
        #[command(flatten)]
        one: One,
        /// Most submits a second, or `none`
        #[arg(long, value_name = "N", value_parser = per_second)]
        per_second: PerSecond,
    },
    /// Test a carrier: send one message over it, outside of all accounts, and show each step
    #[command(after_help = TEST_AFTER_HELP)]
    Test {
        #[command(flatten)]
        one: One,
        #[command(flatten)]
        message: TestArgs,
    },
}

const TEST_AFTER_HELP: &str = "\
The message is charged to nobody and is in no list. The audit names the test, with a masked number. A carrier that is
paused or drained is not tested. The test is not retried, and does not count against `max_per_second`.

The command opens a connection of its own. While a node serves, an SMPP carrier gets one transmitter beside `binds`, and
the receipt goes to the connections of the node. The command reads it from the database. Otherwise the command binds
as configured and receives by itself; receipts of other messages stay with the carrier. The command itself asks a
carrier by HTTP with `poll` for the state. Another one posts the receipt to a node that serves, so without such a node
the command ends after the answer.

The exit code is 0 if the carrier accepted the message and no receipt names a failure, else 1.

Example: ogene carrier test mtn --to 2348031234567 --from Ogene --wait 2m";

/// The message of a test.
#[derive(Args)]
pub(super) struct TestArgs {
    /// The number that gets the message
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    to: Recipient,
    /// The sender ID
    #[arg(long, value_name = "SENDER", default_value = "Ogene", value_parser = sender)]
    from: String,
    /// The text of at most 1,000 characters, sent as it is [default: a test message with the time]
    #[arg(long)]
    text: Option<String>,
    /// Longest wait for the receipt, at most 1h; 0s waits for none
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = wait)]
    wait: Duration,
}

fn number(text: &str) -> Result<Recipient, String> {
    let number = parse_international(text);
    number.ok_or_else(|| "give an international number, such as 2348031234567".to_owned())
}

fn sender(text: &str) -> Result<String, String> {
    let is_one = (1..=15).contains(&text.chars().count()) && !text.contains(char::is_control);
    let sender = is_one.then(|| text.to_owned());
    sender.ok_or_else(|| "a sender ID has 1 to 15 characters".to_owned())
}

fn wait(text: &str) -> Result<Duration, String> {
    let wait = config::duration(text).filter(|wait| *wait <= MAX_WAIT);
    wait.ok_or_else(|| "must be a time of at most 1h, such as 30s or 2m".to_owned())
}

/// Longest wait of a test.
const MAX_WAIT: Duration = Duration::from_hours(1);
/// Maximum number of characters of the text of a test.
const MAX_TEST_CHARACTERS: usize = 1_000;

/// The carrier of a command.
#[derive(Args)]
pub(super) struct One {
    /// The carrier, as `ogene carrier list` shows it
    carrier: String,
}

/// Most submits a second.
#[derive(Clone, Copy)]
pub(super) struct PerSecond(Option<u32>);

fn per_second(text: &str) -> Result<PerSecond, String> {
    if text == "none" {
        return Ok(PerSecond(None));
    }
    let limit: Result<NonZeroU32, _> = text.parse();
    let limit = limit.map_err(|_| "give a whole number from 1, or `none`".to_owned())?;
    Ok(PerSecond(Some(limit.get())))
}

impl Carrier {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let (one, change) = match self {
            Self::List => return list(context).await,
            Self::Test { one, message } => return test(context, &one.carrier, message).await,
            Self::Pause { one } => (one, CarrierChange::Pause),
            Self::Drain { one } => (one, CarrierChange::Drain),
            Self::Resume { one } => (one, CarrierChange::Resume),
            Self::Throttle { one, per_second } => (one, CarrierChange::Throttle(per_second.0)),
        };
        let rules = context.config()?.settings().rules;
        let carriers = context.open().await?.carriers(rules);
        let control = carriers.change(&one.carrier, change).await?;
        let json = CarrierJson::new(&one.carrier, control, None);
        Answer::new(controlled(&one.carrier, control), &json)
    }
}

#[derive(Serialize)]
struct CarrierJson {
    carrier: String,
    mode: &'static str,
    max_per_second: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_by: Option<String>,
}

impl CarrierJson {
    fn new(carrier: &str, control: CarrierControl, found: Option<&ControlledCarrier>) -> Self {
        Self {
            carrier: carrier.to_owned(),
            mode: control.mode.as_str(),
            max_per_second: control.max_per_second,
            changed_at: found.map(|found| lagos_time(found.changed_at_ms)),
            changed_by: found.map(|found| found.changed_by.clone()),
        }
    }
}

/// Sends one message over a carrier, and shows each step as it happens.
async fn test(context: &Context, name: &str, args: TestArgs) -> Result<Answer, Failure> {
    let config = context.config()?;
    let operations = context.open().await?;
    let now_ms = operations.actor().clock().now_ms();
    let body = args.text.unwrap_or_else(|| {
        let at = lagos_time(now_ms);
        format!("Test of a carrier by its operator, {at}")
    });
    if body.is_empty() || body.chars().count() > MAX_TEST_CHARACTERS {
        let fault = format!("--text must have 1 to {MAX_TEST_CHARACTERS} characters");
        return Err(Failure::usage(fault));
    }
    let message = TestMessage {
        to: args.to,
        from: args.from,
        body,
        wait: args.wait,
    };
    let settings = config.carriers.iter().find(|one| one.name == name).cloned();
    let system = System::from_os().map_err(|error| Failure::new(error.to_string()))?;
    // One process serves from an embedded database, and holds its lock.
    let serves_embedded = match app::lock(&config) {
        Ok(lock) => lock.map(|_| false),
        Err(_) => Some(true),
    };
    let is_shown = !context.global.json;
    let mut steps = Vec::new();
    let carriers = operations.carriers(config.settings().rules);
    let sending = carriers.test(
        (system, serves_embedded),
        settings,
        name,
        &message,
        |step| {
            if is_shown {
                // A closed reader does not end the test.
                let _ = writeln!(io::stdout(), "{}", line(&step));
            }
            steps.push(step);
        },
    );
    let end = Box::pin(sending).await?;
    let json = json!({
        "carrier": name,
        "accepted": end.is_accepted,
        "carrier_message_ids": end.ids,
        "delivery_status": end.status.map(DeliveryStatus::as_str),
        "steps": steps.iter().map(step_json).collect::<Vec<_>>(),
    });
    let text = match (end.is_accepted, end.status) {
        (false, _) => "The carrier did not accept the message.".to_owned(),
        (true, None) => "The carrier accepted the message. Its receipt is not known.".to_owned(),
        (true, Some(status)) => {
            format!("The carrier accepted the message: {}.", status.as_str())
        }
    };
    let answer = Answer::new(text, &json)?;
    Ok(if end.is_good() {
        answer
    } else {
        answer.failing()
    })
}

fn line(step: &TestStep) -> String {
    let at = step.at.as_secs_f64();
    format!("{at:>7.3} s  {:<10} {}", step.name, step.about)
}

fn step_json(step: &TestStep) -> Value {
    let at = format!("{:.3}", step.at.as_secs_f64());
    json!({ "at": at, "step": step.name, "about": step.about })
}

const COLUMNS: [&str; 5] = ["CARRIER", "MODE", "MAX_PER_SECOND", "CHANGED", "BY"];

/// Lists the configured carriers, and then removed ones that are still under control.
async fn list(context: &Context) -> Result<Answer, Failure> {
    let config = context.config()?;
    let mut names: Vec<String> = config.carriers.iter().map(|one| one.name.clone()).collect();
    let carriers = context.open().await?.carriers(config.settings().rules);
    let controlled = carriers.controlled().await?;
    let removed = controlled.iter().map(|one| &one.carrier);
    let removed: Vec<String> = removed
        .filter(|name| !names.contains(name))
        .cloned()
        .collect();
    names.extend(removed);
    let row = |name: &String| {
        let found = controlled.iter().find(|one| one.carrier == *name);
        let control = found.map(|found| found.control).unwrap_or_default();
        CarrierJson::new(name, control, found)
    };
    let items: Vec<CarrierJson> = names.iter().map(row).collect();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let cells = items.iter().map(|one| {
        [
            one.carrier.clone(),
            one.mode.to_owned(),
            or_dash(one.max_per_second.map(|limit| limit.to_string())),
            or_dash(one.changed_at.clone()),
            or_dash(one.changed_by.clone()),
        ]
    });
    let text = table(COLUMNS, &cells.collect::<Vec<_>>());
    Answer::new(text, &json!({ "items": items }))
}
