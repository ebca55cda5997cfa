//! The traffic of carriers, as the metrics of this node count it.

use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};

/// Time in milliseconds over which rates are measured.
const RATE_WINDOW_MS: i64 = 60_000;
/// Shortest time between two samples, milliseconds.
const SAMPLE_INTERVAL_MS: i64 = 5_000;
/// The status of a submit that the carrier accepted.
pub(crate) const ACCEPTED: &str = "ESME_ROK";

/// The counters of one carrier since the start of this node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// Submits.
    pub(crate) submits: u64,
    /// Submits in the window.
    pub(crate) in_window: u64,
    /// Results of submits by status.
    pub(crate) responses: BTreeMap<String, u64>,
    /// Number of first submits by the time since acceptance: upper bound in seconds, count.
    pub(crate) waits: Vec<(String, u64)>,
}

/// The counters by carrier.
pub(crate) type Readings = BTreeMap<String, Reading>;

impl Reading {
    /// Returns the number of results.
    pub(crate) fn results(&self) -> u64 {
        self.responses.values().sum()
    }

    /// Returns the number of results that are no acceptance.
    pub(crate) fn failures(&self) -> u64 {
        let accepted = self.responses.get(ACCEPTED).copied();
        self.results() - accepted.unwrap_or_default()
    }

    /// Returns the upper bound in seconds of the time from acceptance to submit for a share of the
    /// recipients, in percent.
    pub(crate) fn waited(&self, percent: u64) -> Option<&str> {
        let (_, all) = self.waits.last().filter(|(_, all)| *all > 0)?;
        let within = self
            .waits
            .iter()
            .find(|(_, count)| count * 100 >= all * percent);
        within.map(|(bound, _)| bound.as_str())
    }
}

/// Reads the counters of carriers out of Prometheus text.
pub(crate) fn read(text: &str) -> Readings {
    let mut readings = Readings::new();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once('{') else {
            continue;
        };
        let Some((labels, value)) = rest.rsplit_once("} ") else {
            continue;
        };
        let Some(carrier) = label(labels, "carrier") else {
            continue;
        };
        let reading = readings.entry(carrier.to_owned()).or_default();
        // A value that is no whole number belongs to a metric that is not read here.
        let number: u64 = value.trim().parse().unwrap_or_default();
        match name.strip_suffix("_bucket").unwrap_or(name) {
            "ogene_submits_total" => reading.submits = number,
            "ogene_window_used" => reading.in_window = number,
            "ogene_responses_total" => {
                let status = label(labels, "status").unwrap_or_default();
                reading.responses.insert(status.to_owned(), number);
            }
            "ogene_accepted_to_submitted_seconds" => {
                let bound = label(labels, "le").unwrap_or_default();
                reading.waits.push((bound.to_owned(), number));
            }
            _ => {}
        }
    }
    readings
}

/// Returns the value of a label. Names of carriers and statuses have no character that is escaped.
fn label<'t>(labels: &'t str, name: &str) -> Option<&'t str> {
    let mut pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(given, _)| *given == name)?;
    Some(value.trim_matches('"'))
}

/// Samples of the submits of each carrier, from which rates follow. Each view of a page of carriers
/// adds one.
#[derive(Default)]
pub(crate) struct Samples(Mutex<VecDeque<(i64, BTreeMap<String, u64>)>>);

impl Samples {
    /// Adds a sample. Returns the submits a second of each carrier in the last minute, or nothing
    /// if there was no view in that time.
    pub(crate) fn rates(&self, now_ms: i64, readings: &Readings) -> BTreeMap<String, f64> {
        let mut samples = self.0.lock();
        samples.retain(|(at_ms, _)| (0..=RATE_WINDOW_MS).contains(&(now_ms - at_ms)));
        let submits: BTreeMap<String, u64> = readings
            .iter()
            .map(|(carrier, reading)| (carrier.clone(), reading.submits))
            .collect();
        let rates = samples.front().filter(|(at_ms, _)| *at_ms < now_ms);
        let rates = rates.map(|(at_ms, before)| rates_of(now_ms - at_ms, before, &submits));
        let is_due = samples
            .back()
            .is_none_or(|(at_ms, _)| now_ms - at_ms >= SAMPLE_INTERVAL_MS);
        let rates = rates.unwrap_or_default();
        if is_due {
            samples.push_back((now_ms, submits));
        }
        rates
    }
}

fn rates_of(
    time_ms: i64,
    before: &BTreeMap<String, u64>,
    now: &BTreeMap<String, u64>,
) -> BTreeMap<String, f64> {
    let seconds = std::time::Duration::from_millis(time_ms.unsigned_abs()).as_secs_f64();
    let rate = |(carrier, count): (&String, &u64)| {
        let new = count.saturating_sub(before.get(carrier).copied().unwrap_or_default());
        // A count of submits in a minute is far below the precision of a float.
        let new = f64::from(u32::try_from(new).unwrap_or(u32::MAX));
        (carrier.clone(), new / seconds)
    };
    now.iter().map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# TYPE ogene_submits_total counter
ogene_submits_total{carrier=\"mtn\",environment=\"live\"} 40
ogene_responses_total{carrier=\"mtn\",environment=\"live\",status=\"ESME_ROK\"} 36
ogene_responses_total{carrier=\"mtn\",environment=\"live\",status=\"ESME_RTHROTTLED\"} 4
ogene_window_used{carrier=\"mtn\",environment=\"live\"} 3
ogene_accepted_to_submitted_seconds_bucket{carrier=\"mtn\",environment=\"live\",le=\"0.01\"} 30
ogene_accepted_to_submitted_seconds_bucket{carrier=\"mtn\",environment=\"live\",le=\"0.1\"} 39
ogene_accepted_to_submitted_seconds_bucket{carrier=\"mtn\",environment=\"live\",le=\"+Inf\"} 40
ogene_accepted_to_submitted_seconds_sum{carrier=\"mtn\",environment=\"live\"} 0.5
ogene_callbacks_in_flight 2
";

    #[test]
    fn the_counters_of_a_carrier_are_read_from_the_metrics() {
        let readings = read(TEXT);
        let mtn = &readings["mtn"];
        assert_eq!((mtn.submits, mtn.in_window), (40, 3));
        assert_eq!((mtn.results(), mtn.failures()), (40, 4));
        assert_eq!(mtn.waited(50), Some("0.01"));
        assert_eq!(mtn.waited(95), Some("0.1"));
        assert_eq!(Reading::default().waited(50), None);
        assert_eq!(readings.len(), 1);
    }

    #[test]
    fn a_rate_is_that_of_the_last_minute() {
        let (samples, mut readings) = (Samples::default(), read(TEXT));
        assert!(samples.rates(0, &readings).is_empty(), "one view");
        readings.get_mut("mtn").unwrap().submits = 140;
        let rate =
            |at_ms, readings: &Readings| format!("{:.2}", samples.rates(at_ms, readings)["mtn"]);
        assert_eq!(rate(10_000, &readings), "10.00");
        readings.get_mut("mtn").unwrap().submits = 190;
        assert_eq!(rate(65_000, &readings), "0.91");
        assert!(
            samples.rates(200_000, &readings).is_empty(),
            "no view for a while"
        );
    }
}
