//! `ogene carrier`

use super::answer::{Answer, Failure, table};
use super::context::Context;
use crate::explanation::controlled;
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::carrier_control::{CarrierChange, CarrierControl};
use engine::operators::{Carriers, ControlledCarrier};
use serde::Serialize;
use std::num::NonZeroU32;

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
}

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
        let config = context.config()?;
        let names = config.carriers.iter().map(|one| one.name.clone()).collect();
        let carriers = context.open().await?.carriers(config.settings().rules);
        let (one, change) = match self {
            Self::List => return list(carriers, names).await,
            Self::Pause { one } => (one, CarrierChange::Pause),
            Self::Drain { one } => (one, CarrierChange::Drain),
            Self::Resume { one } => (one, CarrierChange::Resume),
            Self::Throttle { one, per_second } => (one, CarrierChange::Throttle(per_second.0)),
        };
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

const COLUMNS: [&str; 5] = ["CARRIER", "MODE", "MAX_PER_SECOND", "CHANGED", "BY"];

/// Lists the configured carriers, and then removed ones that are still under control.
async fn list(carriers: Carriers, mut names: Vec<String>) -> Result<Answer, Failure> {
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
    Answer::new(text, &serde_json::json!({ "items": items }))
}
