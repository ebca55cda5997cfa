//! The scenarios, one in each file. Each prepares a site of its own, measures it, and checks that
//! nothing was lost.

mod accept;
mod accounts;
mod backlog;
mod bound;
mod bulk;
mod carriers;
mod changes;
pub(crate) mod checks;
mod codec;
mod curve;
pub(crate) mod customers;
mod dead_receivers;
mod distant;
mod dnd;
mod flood;
mod http_carrier;
mod keyed;
mod large;
mod latency;
mod live;
mod narrow;
mod overload;
mod overtake;
mod pages;
mod parent;
mod personalised;
mod queued;
mod reports;
mod scheduled;
mod search;
pub(crate) mod single;
mod stored;
mod submits;
mod turns;
mod upload;
mod waiting;
mod webhooks;

use crate::figures::{Figures, Goal};
use crate::plan::Plan;
use crate::site::Setup;
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::time::Duration;

/// Maximum duration of a scenario, and of one that first makes millions of rows.
const TIMEOUT: Duration = Duration::from_mins(6);
const LONG_TIMEOUT: Duration = Duration::from_hours(1);

/// A scenario of the benchmark.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// One recipient a request over many connections, up to the callback
    Single,
    /// Disk space of a single message, over half a million of them
    Disk,
    /// 1,000 recipients a request, up to the receipt
    Bulk,
    /// Single messages with an `Idempotency-Key`, beside those without one
    Keyed,
    /// Personalised sends of 1,000 rows beside `bulk`, and as CSV of 100,000 rows
    Personalised,
    /// A million messages that are due in the same second, beside one-time passwords
    Scheduled,
    /// Campaigns and single messages over one bind with a window of 50
    Narrow,
    /// Latency at a set pace: until a send is accepted, and until it is submitted
    Latency,
    /// Many recipients queued while the SMSC is down, then a crash and a start
    Queued,
    /// Accepts alone, while the SMSC is down
    Accept,
    /// One request of 100,000 recipients
    Large,
    /// Rate of single messages with millions of settled ones stored, beside the rate without them
    Stored,
    /// Lists, searches, timelines and an export with millions of settled messages stored
    Search,
    /// Every page of the console with millions of settled messages stored, beside sends
    Pages,
    /// 500 open pages of the console: their cost, and the rate of single messages beside them
    Live,
    /// Files of a million recipients through the console, as CSV and XLSX
    Upload,
    /// Pages of a large report while other customers send
    Reports,
    /// An SMSC 50 ms away: one bind, a window of 100
    Distant,
    /// One-time passwords while a campaign is queued
    Overtake,
    /// Rate to a healthy receiver beside 1,000 dead ones
    DeadReceivers,
    /// Ten times the sustained rate for a minute, and the time of the recovery
    Overload,
    /// The scenario `overload` with campaigns
    OverloadCampaigns,
    /// Four sessions of customers by SMPP, up to the answered receipt, beside `single`
    Customers,
    /// Latency by SMPP at a set pace: from `submit_sm` to its response
    Submits,
    /// 2,000 idle sessions of customers by SMPP
    Bound,
    /// A million receipts that wait for an SMPP user, and their delivery
    Waiting,
    /// Rate of an SMPP user beside another one that submits without limit
    Flood,
    /// Cost of a message with more accounts
    Accounts,
    /// Cost of a message while accounts change
    Changes,
    /// Cost of a message with more recipients queued
    Backlog,
    /// Cost of a message with more carriers
    Carriers,
    /// Single messages over a carrier by HTTP, beside those by SMPP
    HttpCarrier,
    /// The import of ten million numbers on DND, and sends that check them
    Dnd,
    /// Webhooks of a payment provider beside 5,000 sends a second
    Webhooks,
    /// Single messages of a sub-account, beside those of an account without a parent
    Parent,
    /// Decoding and encoding of a `submit_sm` of 200 octets
    Codec,
}

/// Maximum ratio of the cost of a message at the last point of a curve to that at the first.
const GROWTH: f64 = 1.1;

impl Scenario {
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns the goals of the scenario.
    pub(crate) const fn goals(self) -> &'static [Goal] {
        match self {
            Self::Single => &[
                Goal::AtLeast("messages_per_s", 15_000.0, 5_000.0),
                Goal::AtMost("cpu_s_per_1000", 0.08, 0.12),
            ],
            Self::Disk => &[
                Goal::AtMost("stored_bytes_per_recipient", 400.0, 900.0),
                Goal::AtMost("lasting_bytes_per_recipient", 400.0, 900.0),
            ],
            Self::Bulk => &[
                Goal::AtLeast("recipients_per_s", 80_000.0, 40_000.0),
                Goal::AtMost("stored_bytes_per_recipient", 100.0, 300.0),
                Goal::AtMost("lasting_bytes_per_recipient", 100.0, 300.0),
            ],
            Self::Keyed => &[Goal::AtLeast("share_of_rate_without_key", 0.85, 0.85)],
            Self::Personalised => &[
                Goal::AtLeast("share_of_bulk", 0.6, 0.6),
                Goal::AtMost("csv_answered_longest_ms", 400.0, 400.0),
                Goal::AtMost("csv_memory_above_idle_mb", 150.0, 150.0),
            ],
            Self::Scheduled => &[
                Goal::AtMost("first_submit_ms", 50.0, 50.0),
                Goal::AtMost("otp_due_to_submit_p99_ms", 20.0, 20.0),
                Goal::AtMost("peak_mb", 150.0, 150.0),
            ],
            // They are compared with another build.
            Self::Narrow => &[],
            Self::Latency => &[
                Goal::AtMost("accept_p50_ms", 1.0, 3.0),
                Goal::AtMost("accept_p99_ms", 6.0, 15.0),
                Goal::AtMost("accepted_to_submit_p50_ms", 1.5, 4.0),
                Goal::AtMost("accepted_to_submit_p99_ms", 8.0, 20.0),
            ],
            Self::Queued => &[
                Goal::AtMost("idle_mb", 40.0, 40.0),
                Goal::AtMost("queued_mb", 150.0, 150.0),
                Goal::AtMost("ready_after_kill_s", 2.0, 2.0),
            ],
            Self::Accept => &[Goal::AtLeast("accepts_per_s", 30_000.0, 10_000.0)],
            Self::Large => &[Goal::AtMost("answered_longest_ms", 150.0, 300.0)],
            Self::Stored => &[Goal::AtLeast("share_of_empty_rate", 0.9, 0.9)],
            Self::Search => &[
                Goal::AtMost("slowest_list_p95_ms", 20.0, 20.0),
                Goal::AtLeast("export_rows_per_s", 150_000.0, 150_000.0),
                Goal::AtMost("export_memory_mb", 32.0, 32.0),
                Goal::AtLeast("share_of_sends_beside_export", 0.9, 0.9),
            ],
            Self::Pages | Self::Live | Self::Upload => self.goals_of_console(),
            Self::Reports => &[Goal::AtMost("report_of_100_p99_ms", 10.0, 10.0)],
            Self::Distant => &[Goal::AtLeast("submits_per_s", 1_950.0, 1_950.0)],
            Self::Overtake => &[
                Goal::AtMost("otp_due_to_submit_p99_ms", 20.0, 20.0),
                Goal::AtMost("otp_while_draining_due_to_submit_p99_ms", 20.0, 20.0),
            ],
            Self::DeadReceivers => &[Goal::AtLeast("share_of_rate_alone", 0.5, 0.5)],
            Self::Overload | Self::OverloadCampaigns => &[
                Goal::AtLeast("goodput_share", 0.9, 0.9),
                Goal::AtMost("peak_mb", 512.0, 512.0),
                Goal::AtMost("recovery_s", 10.0, 10.0),
            ],
            Self::Accounts | Self::Changes | Self::Backlog | Self::Carriers => {
                &[Goal::AtMost("cpu_growth", GROWTH, GROWTH)]
            }
            Self::Codec => &[Goal::AtMost("decode_and_encode_ns", 80.0, 80.0)],
            Self::HttpCarrier | Self::Dnd | Self::Webhooks | Self::Parent => {
                self.goals_of_ways_and_money()
            }
            Self::Customers | Self::Submits | Self::Bound | Self::Waiting | Self::Flood => {
                self.goals_by_smpp()
            }
        }
    }

    /// Returns the goals of a scenario of customers by SMPP.
    const fn goals_by_smpp(self) -> &'static [Goal] {
        match self {
            Self::Customers => &[
                Goal::AtLeast("share_of_single", 1.5, 1.3),
                Goal::AtMost("cpu_share_of_single", 0.6, 0.6),
            ],
            Self::Submits => &[
                Goal::AtMost("response_p50_ms", 1.0, 1.0),
                Goal::AtMost("response_p99_ms", 4.0, 4.0),
            ],
            Self::Bound => &[Goal::AtMost("bound_above_idle_mb", 40.0, 40.0)],
            Self::Waiting => &[
                Goal::AtMost("waiting_above_idle_mb", 60.0, 60.0),
                Goal::AtLeast("receipts_per_s", 20_000.0, 20_000.0),
            ],
            Self::Flood => &[Goal::AtLeast("share_of_rate_alone", 0.9, 0.9)],
            _ => &[],
        }
    }

    /// Returns the goals of a scenario of the console.
    const fn goals_of_console(self) -> &'static [Goal] {
        match self {
            Self::Pages => &[Goal::AtMost("slowest_page_p95_ms", 50.0, 50.0)],
            Self::Live => &[
                Goal::AtMost("pages_cpu_share", 0.05, 0.05),
                Goal::AtLeast("share_of_rate_without_pages", 0.95, 0.95),
            ],
            Self::Upload => &[
                Goal::AtMost("csv_s", 20.0, 20.0),
                Goal::AtMost("xlsx_s", 60.0, 60.0),
                Goal::AtMost("memory_above_idle_mb", 200.0, 200.0),
            ],
            _ => &[],
        }
    }

    /// Returns the goals of a scenario of carriers by HTTP, DND, payments or sub-accounts.
    const fn goals_of_ways_and_money(self) -> &'static [Goal] {
        match self {
            Self::HttpCarrier => &[Goal::AtLeast("share_of_smpp_rate", 0.5, 0.5)],
            Self::Dnd => &[
                Goal::AtMost("import_s", 60.0, 60.0),
                Goal::AtMost("import_peak_mb", 200.0, 200.0),
                Goal::AtLeast("share_of_unchecked_rate", 0.8, 0.8),
            ],
            Self::Webhooks => &[Goal::AtMost("webhook_p99_ms", 50.0, 50.0)],
            Self::Parent => &[Goal::AtLeast("share_of_rate_without_parent", 0.9, 0.9)],
            _ => &[],
        }
    }

    /// Returns `true` for a scenario that first makes millions of rows, and then measures several
    /// times in one run.
    const fn makes_millions(self) -> bool {
        matches!(
            self,
            Self::Stored
                | Self::Search
                | Self::Pages
                | Self::Scheduled
                | Self::OverloadCampaigns
                | Self::Dnd
                | Self::Waiting
        )
    }

    /// Returns the number of runs, of `runs` asked for.
    pub(crate) const fn turns(self, runs: u32) -> u32 {
        if self.makes_millions() { 1 } else { runs }
    }

    /// Runs the scenario once.
    pub(crate) async fn run(self, setup: &Setup, Plan { quick, runs }: Plan) -> Result<Figures> {
        let run = async {
            match self {
                Self::Single => single::run(setup, setup.messages).await,
                Self::Disk => single::run(setup, if quick { 50_000 } else { 500_000 }).await,
                Self::Bulk => bulk::run(setup, quick).await,
                Self::Keyed => keyed::run(setup, quick).await,
                Self::Personalised => personalised::run(setup, quick).await,
                Self::Scheduled => scheduled::run(setup, quick).await,
                Self::Narrow => narrow::run(setup, quick).await,
                Self::Latency => latency::run(setup, quick).await,
                Self::Queued => queued::run(setup, quick).await,
                Self::Accept => accept::run(setup, quick).await,
                Self::Large => large::run(setup, quick).await,
                Self::Stored => stored::run(setup, quick, runs).await,
                Self::Search => search::run(setup, quick).await,
                Self::Pages => pages::run(setup, quick).await,
                Self::Live => live::run(setup, quick).await,
                Self::Upload => upload::run(setup, quick).await,
                Self::Reports => reports::run(setup, quick).await,
                Self::Distant => distant::run(setup, quick).await,
                Self::Overtake => overtake::run(setup, quick).await,
                Self::DeadReceivers => dead_receivers::run(setup, quick).await,
                Self::Overload => overload::run(setup, quick, &overload::Callers::SINGLE).await,
                Self::OverloadCampaigns => {
                    overload::run(setup, quick, &overload::Callers::CAMPAIGNS).await
                }
                Self::Customers => customers::run(setup, quick).await,
                Self::Submits => submits::run(setup, quick).await,
                Self::Bound => bound::run(setup, quick).await,
                Self::Waiting => waiting::run(setup, quick).await,
                Self::Flood => flood::run(setup, quick).await,
                Self::Accounts => accounts::run(setup, quick).await,
                Self::Changes => changes::run(setup, quick).await,
                Self::Backlog => backlog::run(setup, quick).await,
                Self::Carriers => carriers::run(setup, quick).await,
                Self::HttpCarrier => http_carrier::run(setup, quick).await,
                Self::Dnd => dnd::run(setup, quick).await,
                Self::Webhooks => webhooks::run(setup, quick).await,
                Self::Parent => parent::run(setup, quick).await,
                Self::Codec => codec::run(quick),
            }
        };
        let timeout = if self.makes_millions() {
            LONG_TIMEOUT
        } else {
            TIMEOUT
        };
        let run = tokio::time::timeout(timeout, run);
        let figures = run.await.context("it takes too long")?;
        figures.with_context(|| format!("the scenario {} failed", self.name()))
    }
}
