//! The periods and measures of the overview.

use crate::figures;
use crate::parts::Tone;
use domain::Money;
use domain::time::lagos_time;

/// A period that ends now.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Period {
    /// 24 hours, by hour.
    #[default]
    Day,
    /// 7 days, by day.
    Week,
    /// 30 days, by day.
    Month,
}

impl Period {
    /// All periods, in the order of the tabs.
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// Returns the value of the query.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "24h",
            Self::Week => "7d",
            Self::Month => "30d",
        }
    }

    /// Returns the name of the tab.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Month => "30 days",
        }
    }

    /// Returns the period of a query. An unknown value is the first period.
    pub fn parse(value: &str) -> Self {
        let known = Self::ALL
            .into_iter()
            .find(|period| period.as_str() == value);
        known.unwrap_or_default()
    }

    /// Returns the number of hours or days.
    pub const fn slots(self) -> usize {
        match self {
            Self::Day => 24,
            Self::Week => 7,
            Self::Month => 30,
        }
    }

    /// Returns the length of an hour or day in milliseconds.
    pub const fn slot_ms(self) -> i64 {
        match self {
            Self::Day => 60 * 60 * 1000,
            Self::Week | Self::Month => 24 * 60 * 60 * 1000,
        }
    }

    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Day => "by hour",
            Self::Week | Self::Month => "by day",
        }
    }

    /// Returns the short and the long label of an hour or day.
    pub(super) fn labels(self, at_ms: i64) -> (String, String) {
        let date = figures::date(at_ms);
        let day = date.rsplit_once(' ').map_or(date.as_str(), |(day, _)| day);
        match self {
            Self::Day => {
                let time = lagos_time(at_ms);
                let clock = time.get(11..16).unwrap_or_default();
                (clock.to_owned(), format!("{day}, {clock}"))
            }
            Self::Week | Self::Month => (day.to_owned(), date),
        }
    }
}

/// A number that the chart can show.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Measure {
    /// All recipients.
    #[default]
    Sent,
    /// Delivered recipients.
    Delivered,
    /// Recipients that were not delivered.
    Failed,
    /// Charges after refunds.
    Spend,
}

impl Measure {
    /// All measures, in the order of the figures.
    pub const ALL: [Self; 4] = [Self::Sent, Self::Delivered, Self::Failed, Self::Spend];

    /// Returns the value of the query.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Spend => "spend",
        }
    }

    /// Returns the name of the figure.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "Sent",
            Self::Delivered => "Delivered",
            Self::Failed => "Failed",
            Self::Spend => "Spend",
        }
    }

    /// Returns the measure of a query. An unknown value is the first measure.
    pub fn parse(value: &str) -> Self {
        let known = Self::ALL
            .into_iter()
            .find(|measure| measure.as_str() == value);
        known.unwrap_or_default()
    }

    pub(super) const fn tone(self) -> Tone {
        match self {
            Self::Sent | Self::Spend => Tone::Plain,
            Self::Delivered => Tone::Good,
            Self::Failed => Tone::Bad,
        }
    }

    pub(super) fn of(self, slot: &Slot) -> i64 {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        match self {
            Self::Sent => number(slot.sent),
            Self::Delivered => number(slot.delivered),
            Self::Failed => number(slot.failed),
            Self::Spend => slot.spend.units(),
        }
    }
}

/// The numbers of one hour or day.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Slot {
    /// Its begin.
    pub at_ms: i64,
    /// All recipients.
    pub sent: u64,
    /// Delivered recipients.
    pub delivered: u64,
    /// Recipients that were not delivered.
    pub failed: u64,
    /// Charges after refunds.
    pub spend: Money,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_a_period_and_a_measure() {
        for period in Period::ALL {
            assert_eq!(Period::parse(period.as_str()), period);
        }
        for measure in Measure::ALL {
            assert_eq!(Measure::parse(measure.as_str()), measure);
        }
        assert_eq!(Period::parse("1y"), Period::Day);
        assert_eq!(Measure::parse(""), Measure::Sent);
    }

    #[test]
    fn a_label_names_the_hour_or_the_day_of_lagos() {
        let at_ms = 1_795_968_402_000;
        let cases = [
            (Period::Day, "17:06", "29 Nov, 17:06"),
            (Period::Week, "29 Nov", "29 Nov 2026"),
            (Period::Month, "29 Nov", "29 Nov 2026"),
        ];
        for (period, short, long) in cases {
            assert_eq!(period.labels(at_ms), (short.to_owned(), long.to_owned()));
        }
    }
}
