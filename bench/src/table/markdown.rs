//! The table as Markdown, with the cost of each scenario and the points of each curve.

use super::rows::{Medians, ROWS};
use crate::database::Kind;
use crate::plan::Plan;
use crate::scenario::Scenario;
use clap::ValueEnum;
use serde_json::Value;

/// The cost figures of each scenario and their labels.
const COSTS: [(&str, &str); 4] = [
    ("cpu_s_per_1000", "CPU s per 1,000"),
    ("written_bytes_per_recipient", "bytes written each"),
    ("stored_bytes_per_recipient", "bytes stored each"),
    ("peak_mb", "peak memory, MB"),
];
const CURVES: [Scenario; 4] = [
    Scenario::Accounts,
    Scenario::Changes,
    Scenario::Backlog,
    Scenario::Carriers,
];

/// The machine and the conditions of the measurement.
pub(super) fn head(machine: &Value, plan: Plan) -> String {
    let text = |name: &str| machine[name].as_str().unwrap_or("?").to_owned();
    format!(
        "{} cores of {}, kernel {}, commit {}, medians of {} runs{}.\n\n",
        machine["cores"],
        text("cpu_model"),
        text("kernel"),
        text("commit"),
        plan.runs,
        if plan.quick {
            ", a tenth of the load"
        } else {
            ""
        },
    )
}

pub(super) fn tables(medians: &[(Kind, Medians)]) -> String {
    [goals(medians), costs(medians), curves(medians)].join("\n")
}

fn goals(medians: &[(Kind, Medians)]) -> String {
    let heads = medians
        .iter()
        .map(|(database, _)| format!("{} | goal | ratio |", title(*database)));
    let mut text = line("what |", heads);
    text += &ruler(1, 3 * medians.len());
    let was_run = |scenario: Scenario| {
        medians
            .iter()
            .any(|(_, medians)| medians.contains_key(&scenario.name()))
    };
    for row in ROWS.iter().filter(|row| was_run(row.scenario)) {
        let cells = medians.iter().map(|(database, medians)| {
            let value = median(medians, row.scenario, row.figure);
            let goal = row.goal();
            let judged = goal.zip(value).map_or("–".to_owned(), |(goal, value)| {
                let met = if goal.is_met(value, *database) {
                    "met"
                } else {
                    "**missed**"
                };
                format!("{:.2} {met}", goal.ratio(value, *database))
            });
            let goal = goal.map(|goal| goal.on(*database));
            format!("{} | {} | {judged} |", number(value), number(goal))
        });
        text += &line(&format!("{} |", row.what), cells);
    }
    text
}

fn costs(medians: &[(Kind, Medians)]) -> String {
    let heads = COSTS.iter().map(|(_, what)| format!("{what} |"));
    let mut text = line("scenario | database |", heads);
    text += &ruler(2, COSTS.len());
    for scenario in Scenario::value_variants() {
        for (database, medians) in medians {
            let values = COSTS.map(|(figure, _)| median(medians, *scenario, figure));
            if values.iter().all(Option::is_none) {
                continue;
            }
            let cells = values.iter().map(|value| format!("{} |", number(*value)));
            let name = format!("`{}` | {} |", scenario.name(), title(*database));
            text += &line(&name, cells);
        }
    }
    text
}

/// Each point of a curve: messages a second, and CPU.
fn curves(medians: &[(Kind, Medians)]) -> String {
    let heads = ["messages a second |", "CPU s per 1,000 |"];
    let mut text = line("curve | database | at |", heads.map(str::to_owned));
    text += &ruler(2, 3);
    for scenario in CURVES {
        for (database, medians) in medians {
            for at in points(medians, scenario) {
                let cells = ["messages_per_s_at_", "cpu_s_per_1000_at_"].map(|figure| {
                    let value = median(medians, scenario, &format!("{figure}{at}"));
                    format!("{} |", number(value))
                });
                let at = apart(&at.to_string());
                let name = format!("`{}` | {} | {at} |", scenario.name(), title(*database));
                text += &line(&name, cells);
            }
        }
    }
    text
}

fn points(medians: &Medians, scenario: Scenario) -> Vec<u64> {
    let figures = medians.get(&scenario.name());
    let names = figures.into_iter().flat_map(|figures| figures.keys());
    let mut points: Vec<u64> = names
        .filter_map(|name| name.strip_prefix("cpu_s_per_1000_at_")?.parse().ok())
        .collect();
    points.sort_unstable();
    points
}

fn median(medians: &Medians, scenario: Scenario, figure: &str) -> Option<f64> {
    medians.get(&scenario.name())?.get(figure).copied()
}

const fn title(database: Kind) -> &'static str {
    match database {
        Kind::Sqlite => "SQLite",
        Kind::Postgres => "PostgreSQL",
    }
}

fn line(first: &str, cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<_> = cells.into_iter().collect();
    format!("| {first} {}\n", cells.join(" "))
}

fn ruler(words: usize, numbers: usize) -> String {
    format!("|{}{}\n", "---|".repeat(words), "---:|".repeat(numbers))
}

/// Returns three significant digits, with a separator of thousands.
fn number(value: Option<f64>) -> String {
    let Some(value) = value else {
        return "–".to_owned();
    };
    let decimals = match value.abs() {
        large if large >= 100.0 => 0,
        some if some >= 10.0 => 1,
        few if few >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    apart(whole) + rest
}

/// Returns digits with a separator of thousands.
fn apart(digits: &str) -> String {
    let mut apart = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_their_thousands_apart() {
        let shown = [1_234_567.8, 400.0, 99.94, 1.255, 0.08].map(|value| number(Some(value)));
        assert_eq!(shown, ["1,234,568", "400", "99.9", "1.25", "0.080"]);
        assert_eq!(number(None), "–");
    }

    #[test]
    fn every_goal_has_a_row_and_what_is_missed_is_said() {
        let goals = Scenario::value_variants().iter();
        for (scenario, goal) in goals.flat_map(|&it| it.goals().iter().map(move |goal| (it, goal)))
        {
            let shown = ROWS
                .iter()
                .any(|row| row.scenario == scenario && row.figure == goal.figure());
            assert!(shown, "{scenario:?} {goal:?}");
        }
        let figures = [("accepts_per_s".to_owned(), 15_000.0)].into();
        let medians: Medians = [("accept".to_owned(), figures)].into();
        let text = tables(&[(Kind::Sqlite, medians.clone()), (Kind::Postgres, medians)]);
        let line = "| accepts a second, nothing else running | 15,000 | 30,000 | 0.50 **missed** | \
                    15,000 | 10,000 | 1.50 met |";
        assert!(text.lines().any(|found| found == line), "{text}");
    }
}
