//! The customer's overview: numbers of a period, their shares, and what needs attention.

mod period;

pub use period::{Measure, Period, Slot};

use crate::chart::{Chart, Data, Form, Series};
use crate::parts::{Badge, Empty, Figure, Share, Tabs, Tone};
use crate::{Shell, figures};
use askama::Template;
use askama::filters::HtmlSafe;
use domain::Money;

/// The customer's overview.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "overview.html")]
pub struct Overview {
    /// The frame.
    pub shell: Shell,
    /// The part that is updated while the screen is open.
    pub live: OverviewNumbers,
}

/// The numbers of the overview, a part that is updated while the screen is open.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "overview_numbers.html")]
pub struct OverviewNumbers {
    /// The time of the answer.
    pub now_ms: i64,
    /// The period of the numbers.
    pub period: Period,
    /// The measure that the chart shows.
    pub measure: Measure,
    /// The balance of the wallet.
    pub balance: Money,
    /// The numbers of each hour or day of the period, oldest first.
    pub slots: Vec<Slot>,
    /// The numbers by network.
    pub networks: Vec<Outcome>,
    /// The numbers by gateway.
    pub gateways: Vec<Outcome>,
    /// The states that need attention, the most urgent first.
    pub attention: Vec<Attention>,
    /// The latest messages.
    pub latest: Vec<Latest>,
    /// The time of the oldest message that was counted, if older ones of the period were left out.
    pub counted_since_ms: Option<i64>,
    /// The same for the numbers by network.
    pub networks_since_ms: Option<i64>,
}

impl HtmlSafe for OverviewNumbers {}

/// Recipients of a network or gateway, and their outcomes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// The network or gateway.
    pub name: String,
    /// All recipients.
    pub sent: u64,
    /// Delivered recipients.
    pub delivered: u64,
    /// Recipients that were not delivered.
    pub failed: u64,
}

/// A state that the user should know and can change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attention {
    /// Its weight.
    pub tone: Tone,
    /// The state, as a sentence.
    pub text: String,
    /// The name of the remedy.
    pub action: String,
    /// The screen of the remedy.
    pub href: String,
}

/// A message in the list of the latest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Latest {
    /// The id.
    pub id: String,
    /// The sender ID.
    pub sender: String,
    /// The begin of its text, or a note that the text is gone.
    pub text: String,
    /// The time of its acceptance.
    pub at_ms: i64,
    /// All recipients.
    pub recipients: u64,
    /// Delivered recipients.
    pub delivered: u64,
    /// Recipients that were not delivered.
    pub failed: u64,
    /// The charge after refunds.
    pub cost: Money,
}

impl Latest {
    /// Returns the badge of the message as a whole.
    fn badge(&self) -> Badge {
        let pending = self.recipients.saturating_sub(self.delivered + self.failed);
        if pending > 0 {
            Badge::new(
                Tone::Waiting,
                format!("{} pending", figures::count(pending)),
            )
        } else if self.failed == 0 {
            Badge::new(Tone::Good, "Delivered")
        } else if self.delivered == 0 {
            Badge::new(Tone::Bad, "Failed")
        } else {
            Badge::new(
                Tone::Warning,
                format!("{} failed", figures::count(self.failed)),
            )
        }
    }
}

impl Outcome {
    /// Returns the share of the delivered in those with an outcome.
    fn rate(&self) -> String {
        figures::percent(self.delivered, self.delivered + self.failed)
    }

    /// Returns the bar: recipients as a share of the largest row.
    fn share(&self, all: &[Self]) -> Share {
        let largest = all.iter().map(|one| one.sent).max().unwrap_or(0);
        Share::of(self.sent, largest)
    }
}

impl Overview {
    fn tabs(&self) -> Tabs {
        let hrefs = Period::ALL.map(|period| address(period, self.live.measure));
        let tabs: Vec<(&str, &str)> = Period::ALL
            .iter()
            .zip(&hrefs)
            .map(|(period, href)| (period.name(), href.as_str()))
            .collect();
        Tabs::new("Period", self.live.period.name(), &tabs)
    }

    fn may_send(&self) -> bool {
        self.shell.may_send()
    }
}

impl OverviewNumbers {
    /// Returns the address of the part, which the screen asks for again and again.
    fn part(&self) -> String {
        format!("{}&part=numbers", address(self.period, self.measure))
    }

    fn sum(&self, number: fn(&Slot) -> u64) -> u64 {
        self.slots.iter().map(number).sum()
    }

    fn is_empty(&self) -> bool {
        self.latest.is_empty() && self.sum(|slot| slot.sent) == 0
    }

    fn figures(&self) -> Vec<Figure> {
        let [sent, delivered, failed] = [
            self.sum(|slot| slot.sent),
            self.sum(|slot| slot.delivered),
            self.sum(|slot| slot.failed),
        ];
        let spend: Money = self.slots.iter().map(|slot| slot.spend).sum();
        let pending = sent.saturating_sub(delivered + failed);
        let figure = |measure: Measure, value: String| {
            Figure::new(measure.name(), value)
                .href(address(self.period, measure))
                .current(measure == self.measure)
        };
        let share = |part| match delivered + failed {
            0 => String::new(),
            ended => figures::percent(part, ended),
        };
        let waiting = match pending {
            0 => String::new(),
            pending => format!("{} pending", figures::count(pending)),
        };
        vec![
            figure(Measure::Sent, figures::count(sent)).note(Tone::Waiting, waiting),
            figure(Measure::Delivered, figures::count(delivered))
                .note(Tone::Good, share(delivered)),
            figure(Measure::Failed, figures::count(failed)).note(Tone::Bad, share(failed)),
            figure(Measure::Spend, figures::naira(spend)).note(Tone::Plain, "after refunds"),
        ]
    }

    fn balance_figure(&self) -> Figure {
        Figure::new("Balance", figures::naira(self.balance)).href("/console/wallet")
    }

    fn chart(&self) -> Chart {
        let measure = self.measure;
        let writes: [fn(i64) -> String; 2] = match measure {
            Measure::Spend => [
                |units| figures::naira(Money::from_units(units)),
                |units| format!("₦{}", figures::short(units / Money::from_naira(1).units())),
            ],
            _ => [
                |number| figures::count(number.unsigned_abs()),
                figures::short,
            ],
        };
        Chart::draw(&Data {
            title: format!("{}, {}", measure.name(), self.period.description()),
            form: Form::Lines,
            periods: self
                .slots
                .iter()
                .map(|slot| self.period.labels(slot.at_ms))
                .collect(),
            series: vec![Series {
                name: measure.name().to_owned(),
                tone: measure.tone(),
                values: self.slots.iter().map(|slot| measure.of(slot)).collect(),
            }],
            unit: match measure {
                Measure::Spend => Money::from_naira(1).units(),
                _ => 1,
            },
            write: writes[0],
            write_short: writes[1],
            is_last_open: true,
        })
    }

    /// Returns the lists of outcomes by title, each with the time from which on it counts.
    fn outcomes(&self) -> [(&'static str, &[Outcome], Option<i64>); 2] {
        let networks_since_ms = self.networks_since_ms.or(self.counted_since_ms);
        [
            ("By network", &self.networks, networks_since_ms),
            ("By gateway", &self.gateways, self.counted_since_ms),
        ]
    }

    fn empty() -> Empty {
        Empty::new(
            "No messages yet",
            "Numbers, charts and delivery rates appear here with your first message.",
        )
    }
}

fn address(period: Period, measure: Measure) -> String {
    format!(
        "/console/?period={}&measure={}",
        period.as_str(),
        measure.as_str()
    )
}

#[cfg(test)]
mod tests;
