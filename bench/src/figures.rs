//! The figures of a run, the goals, and the median of several runs.

use crate::database::Kind;
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest latency that is distinguished from longer ones, microseconds.
const LONGEST_US: u64 = 120_000_000;

/// The figures of a run by name, and its faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    values: BTreeMap<String, f64>,
    faults: Vec<String>,
}

impl Figures {
    /// Returns the figures of a run that failed.
    pub(crate) fn failed(error: &anyhow::Error) -> Self {
        Self {
            faults: vec![format!("{error:#}")],
            ..Self::default()
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: f64) {
        // Four decimals exceed the precision of every figure, and keep the document readable.
        self.values
            .insert(name.to_owned(), (value * 1e4).round() / 1e4);
    }

    /// Adds the figures and faults of another run, with this before their names.
    pub(crate) fn join(&mut self, before: &str, other: Self) {
        let named = |(name, value)| (format!("{before}{name}"), value);
        self.values.extend(other.values.into_iter().map(named));
        self.faults.extend(other.faults);
    }

    /// Sets the rate of `count` things in this time.
    pub(crate) fn rate(&mut self, name: &str, count: u64, time: Duration) {
        self.set(name, float(count) / time.as_secs_f64().max(1e-9));
    }

    /// Sets the median and the 99th percentile, in milliseconds.
    pub(crate) fn latency(&mut self, name: &str, latencies: &Latencies) {
        for (quantile, label) in [(0.5, "p50"), (0.99, "p99")] {
            let us = latencies.0.value_at_quantile(quantile);
            self.set(&format!("{name}_{label}_ms"), float(us) / 1e3);
        }
    }

    /// Checks that a count has its expected value.
    pub(crate) fn expect(&mut self, what: &str, expected: u64, found: u64) {
        if found != expected {
            self.faults
                .push(format!("{what}: {found} instead of {expected}"));
        }
    }

    pub(crate) fn values(&self) -> serde_json::Map<String, Value> {
        let values = self.values.iter();
        values
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect()
    }

    pub(crate) fn faults(&self) -> &[String] {
        &self.faults
    }
}

/// Latencies in microseconds.
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self(Histogram::new_with_bounds(1, LONGEST_US, 3)?))
    }

    pub(crate) fn join(&mut self, other: &Self) {
        // Both have the same bounds, so every value fits.
        let _ = self.0.add(&other.0);
    }

    /// Returns the quantile, in milliseconds.
    pub(crate) fn quantile_ms(&self, share: f64) -> f64 {
        Duration::from_micros(self.0.value_at_quantile(share)).as_secs_f64() * 1e3
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        let us = u64::try_from(latency.as_micros()).unwrap_or(LONGEST_US);
        self.0.saturating_record(us.max(1));
    }
}

/// A goal of the project: a minimum or maximum of this figure, on SQLite and on PostgreSQL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    AtLeast(&'static str, f64, f64),
    AtMost(&'static str, f64, f64),
}

impl Goal {
    pub(crate) const fn figure(self) -> &'static str {
        match self {
            Self::AtLeast(name, ..) | Self::AtMost(name, ..) => name,
        }
    }

    /// Returns the required value.
    pub(crate) const fn on(self, database: Kind) -> f64 {
        let (Self::AtLeast(_, sqlite, postgres) | Self::AtMost(_, sqlite, postgres)) = self;
        match database {
            Kind::Sqlite => sqlite,
            Kind::Postgres => postgres,
        }
    }

    pub(crate) fn is_met(self, value: f64, database: Kind) -> bool {
        match self {
            Self::AtLeast(..) => value >= self.on(database),
            Self::AtMost(..) => value <= self.on(database),
        }
    }

    /// Returns how good a value is: 1 just meets the goal, and more is better.
    pub(crate) fn ratio(self, value: f64, database: Kind) -> f64 {
        match self {
            Self::AtLeast(..) => value / self.on(database),
            // A value below the resolution counts as the resolution.
            Self::AtMost(..) => self.on(database) / value.max(1e-4),
        }
    }

    fn judge(self, values: &BTreeMap<String, f64>, database: Kind) -> (String, Value) {
        let value = values.get(self.figure()).copied();
        let met = value.is_some_and(|value| self.is_met(value, database));
        let bound = match self {
            Self::AtLeast(..) => "at_least",
            Self::AtMost(..) => "at_most",
        };
        let ratio = value.map(|value| self.ratio(value, database));
        (
            self.figure().to_owned(),
            json!({ bound: self.on(database), "met": met, "ratio": ratio }),
        )
    }
}

/// Returns the runs of one scenario as JSON: medians, goals, faults, and each run if there are
/// several.
pub(crate) fn summary(runs: &[Figures], goals: &[Goal], database: Kind) -> Value {
    let medians = medians(runs);
    let judged: serde_json::Map<_, _> = goals
        .iter()
        .map(|goal| goal.judge(&medians, database))
        .collect();
    let faults: Vec<_> = runs.iter().flat_map(|run| &run.faults).collect();
    let mut summary = json!({ "figures": medians, "goals": judged, "faults": faults });
    if runs.len() > 1 {
        summary["runs"] = runs.iter().map(|run| json!(run.values)).collect();
    }
    summary
}

pub(crate) fn medians(runs: &[Figures]) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, value) in runs.iter().flat_map(|run| &run.values) {
        all.entry(name.clone()).or_default().push(*value);
    }
    all.into_iter()
        .map(|(name, values)| (name, median(values)))
        .collect()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.len() / 2;
    let lower = values.len().saturating_sub(1) / 2;
    f64::midpoint(values[lower], values[upper])
}

/// Returns a count as a figure.
#[expect(
    clippy::cast_precision_loss,
    reason = "what is counted here stays far below 2^53"
)]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(vec![3.0, 1.0]).to_bits(), 2f64.to_bits());
        assert_eq!(median(vec![9.0, 1.0, 2.0]).to_bits(), 2f64.to_bits());
    }

    #[test]
    fn a_goal_is_judged_by_the_median_and_a_fault_is_kept() {
        let mut run = Figures::default();
        run.set("rate", 10.0);
        run.expect("submits", 5, 4);
        let goals = [
            Goal::AtLeast("rate", 9.0, 11.0),
            Goal::AtMost("missing", 1.0, 1.0),
        ];
        let runs = [run.clone(), run];
        let on_postgres = summary(&runs, &goals, Kind::Postgres);
        assert_eq!(on_postgres["goals"]["rate"]["met"], false);
        let summary = summary(&runs, &goals, Kind::Sqlite);
        assert_eq!(summary["goals"]["rate"]["met"], true);
        assert_eq!(summary["goals"]["missing"]["met"], false);
        assert_eq!(summary["faults"][0], "submits: 4 instead of 5");
    }
}
