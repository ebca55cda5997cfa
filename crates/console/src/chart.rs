//! Charts as SVG, made from numbers by a pure function. A table with the same numbers stands behind
//! each chart.
//!
//! Labels have their size in pixels at every width: the outer SVG has no `viewBox` and places them
//! in percent. The lines lie in an inner SVG that is stretched.

mod scale;

use crate::parts::Tone;
use askama::Template;
use askama::filters::HtmlSafe;
use scale::Scale;

/// Height of the plot, in pixels.
const PLOT_HEIGHT: i64 = 192;
/// Height of the readout above the plot.
const TOP: i64 = 24;
/// Width of the inner SVG in its own units.
const WIDTH: i64 = 1000;
/// Most labels below the plot.
const MAX_LABELS: usize = 8;

/// The form of a chart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// A line for each series, for rates and amounts over time.
    Lines,
    /// A bar for each period with the series stacked, for parts of a whole.
    Bars,
}

/// A series of numbers, one for each period.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Series {
    /// Its name in the readout and the table.
    pub name: String,
    /// Its colour: plain is the accent.
    pub tone: Tone,
    /// Its numbers.
    pub values: Vec<i64>,
}

/// The numbers of a chart.
#[derive(Clone, Debug)]
pub struct Data {
    /// The title, which names the chart for screen readers too.
    pub title: String,
    /// The form.
    pub form: Form,
    /// The periods: a short label for the axis, and a long one for readout and table.
    pub periods: Vec<(String, String)>,
    /// The series. Numbers that are missing count as zero.
    pub series: Vec<Series>,
    /// The smallest whole number of the unit, such as 10,000 for an amount in naira.
    pub unit: i64,
    /// The function that writes a number.
    pub write: fn(i64) -> String,
    /// The function that writes a number in few characters, for the axis.
    pub write_short: fn(i64) -> String,
    /// `true` if the last period is not over.
    pub is_last_open: bool,
}

/// A chart that is ready to be shown.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/chart.html")]
pub struct Chart {
    title: String,
    legend: Vec<(&'static str, String)>,
    lines: Vec<Line>,
    bars: Vec<Bar>,
    ticks: Vec<Tick>,
    labels: Vec<Label>,
    periods: Vec<Period>,
    is_empty: bool,
}

impl HtmlSafe for Chart {}

/// A line with the area below it, in units of the inner SVG.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Line {
    class: &'static str,
    path: String,
    area: String,
    /// The part to a period that is not over, which is dashed.
    open: String,
}

/// One part of a bar, in percent of the width and pixels of the height.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Bar {
    class: &'static str,
    x: String,
    width: String,
    y: i64,
    height: i64,
}

/// A line of the grid.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Tick {
    y: i64,
    text: String,
}

/// A label below the plot.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Label {
    x: String,
    anchor: &'static str,
    text: String,
    /// `true` if narrow screens leave it out.
    is_spare: bool,
}

/// A period: the area that shows its readout, and its row of the table.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Period {
    x: String,
    width: String,
    middle: String,
    name: String,
    values: Vec<String>,
    readout: String,
}

impl Chart {
    /// Draws numbers.
    pub fn draw(data: &Data) -> Self {
        let count = data.periods.len();
        let scale = Scale::of(highest(data), data.unit);
        let (lines, bars) = match data.form {
            Form::Lines => (lines(data, &scale), Vec::new()),
            Form::Bars => (Vec::new(), bars(data, &scale)),
        };
        Self {
            title: data.title.clone(),
            legend: data
                .series
                .iter()
                .map(|series| (series.tone.class(), series.name.clone()))
                .collect(),
            lines,
            bars,
            ticks: scale
                .ticks()
                .map(|value| Tick {
                    y: TOP + scale.y(value, PLOT_HEIGHT),
                    text: (data.write_short)(value),
                })
                .collect(),
            labels: labels(data),
            periods: (0..count).map(|at| period(data, at)).collect(),
            is_empty: data
                .series
                .iter()
                .all(|series| series.values.iter().all(|value| *value == 0)),
        }
    }

    fn height() -> i64 {
        TOP + PLOT_HEIGHT + 24
    }

    fn bottom() -> i64 {
        TOP + PLOT_HEIGHT
    }

    fn baseline() -> i64 {
        Self::height() - 4
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.legend.iter().map(|(_, name)| name.as_str())
    }
}

fn value(series: &Series, at: usize) -> i64 {
    series.values.get(at).copied().unwrap_or(0)
}

/// Returns the highest point: of any series, or of all together where they are stacked.
fn highest(data: &Data) -> i64 {
    let total = |at: usize| {
        let values = data.series.iter().map(|series| value(series, at));
        match data.form {
            Form::Lines => values.max().unwrap_or(0),
            Form::Bars => values.sum(),
        }
    };
    (0..data.periods.len()).map(total).max().unwrap_or(0)
}

fn lines(data: &Data, scale: &Scale) -> Vec<Line> {
    let count = data.periods.len();
    let line = |series: &Series| {
        let points: Vec<String> = (0..count)
            .map(|at| {
                let y = scale.y(value(series, at), PLOT_HEIGHT);
                format!("{} {y}", middle(at, count, WIDTH))
            })
            .collect();
        let is_open = data.is_last_open && count > 1;
        let closed = points.len() - usize::from(is_open);
        let path = format!("M{}", points[..closed].join("L"));
        let (first, last) = (
            middle(0, count, WIDTH),
            middle(count.saturating_sub(1), count, WIDTH),
        );
        Line {
            class: series.tone.class(),
            area: format!(
                "M{first} {PLOT_HEIGHT}L{}L{last} {PLOT_HEIGHT}Z",
                points.join("L")
            ),
            open: if is_open {
                format!("M{}", points[closed - 1..].join("L"))
            } else {
                String::new()
            },
            path,
        }
    };
    if count == 0 {
        return Vec::new();
    }
    data.series.iter().map(line).collect()
}

fn bars(data: &Data, scale: &Scale) -> Vec<Bar> {
    let count = data.periods.len();
    let mut bars = Vec::new();
    for at in 0..count {
        let mut below = 0;
        for series in &data.series {
            let value = value(series, at);
            let (bottom, top) = (
                scale.y(below, PLOT_HEIGHT),
                scale.y(below + value, PLOT_HEIGHT),
            );
            below += value;
            // A small number is visible too.
            let height = (bottom - top).max(i64::from(value > 0));
            if height > 0 {
                bars.push(Bar {
                    class: series.tone.class(),
                    x: share(at * 8 + 1, count * 8),
                    width: share(6, count * 8),
                    y: TOP + bottom - height,
                    height,
                });
            }
        }
    }
    bars
}

/// Returns the labels of some periods, the last of them always among the wide ones.
fn labels(data: &Data) -> Vec<Label> {
    let count = data.periods.len();
    let step = count.div_ceil(MAX_LABELS).max(1);
    let label = |(nth, at): (usize, usize)| Label {
        x: share(at * 2 + 1, count * 2),
        anchor: match at {
            0 if count > 2 => "start",
            _ if at + 1 == count && count > 2 => "end",
            _ => "middle",
        },
        text: data.periods[at].0.clone(),
        is_spare: nth % 2 == 1,
    };
    (0..count).step_by(step).enumerate().map(label).collect()
}

fn period(data: &Data, at: usize) -> Period {
    let count = data.periods.len();
    let values: Vec<String> = data
        .series
        .iter()
        .map(|series| (data.write)(value(series, at)))
        .collect();
    let name = data.periods[at].1.clone();
    let numbers: Vec<String> = data
        .series
        .iter()
        .zip(&values)
        .map(|(series, text)| format!("{text} {}", series.name.to_lowercase()))
        .collect();
    Period {
        x: share(at, count),
        width: share(1, count),
        middle: share(at * 2 + 1, count * 2),
        readout: format!("{name}: {}", numbers.join(", ")),
        name,
        values,
    }
}

/// Returns the middle of a period on an axis of a length.
fn middle(at: usize, count: usize, length: i64) -> i64 {
    let [at, count] = [at, count].map(|number| i64::try_from(number).unwrap_or(0));
    (2 * at + 1) * length / (2 * count).max(1)
}

/// Returns a share in percent with two decimals.
fn share(part: usize, whole: usize) -> String {
    let share = part * 10_000 / whole.max(1);
    format!("{}.{:02}", share / 100, share % 100)
}

#[cfg(test)]
mod tests;
