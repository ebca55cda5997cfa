//! Tests of charts: each number of the data is in the picture and in the table.

use super::*;
use crate::html;

fn data(form: Form, values: &[&[i64]]) -> Data {
    let count = values.iter().map(|values| values.len()).max().unwrap_or(0);
    let series = values.iter().enumerate().map(|(at, values)| Series {
        name: format!("Series {at}"),
        tone: [Tone::Good, Tone::Bad][at % 2],
        values: values.to_vec(),
    });
    Data {
        title: "Sent".to_owned(),
        form,
        periods: (0..count)
            .map(|at| (format!("{at} h"), format!("hour {at}")))
            .collect(),
        series: series.collect(),
        unit: 1,
        write: |value| format!("<{value}>"),
        write_short: |value| value.to_string(),
        is_last_open: false,
    }
}

#[test]
fn a_line_goes_through_the_middle_of_each_period() {
    let chart = Chart::draw(&data(Form::Lines, &[&[0, 10, 20]]));
    assert_eq!(chart.lines[0].path, "M166 192L500 96L833 0");
    assert_eq!(
        chart.lines[0].area,
        "M166 192L166 192L500 96L833 0L833 192Z"
    );
    assert_eq!(chart.lines[0].open, "");
}

#[test]
fn the_line_to_an_open_period_is_apart() {
    let mut data = data(Form::Lines, &[&[0, 10, 20]]);
    data.is_last_open = true;
    let chart = Chart::draw(&data);
    assert_eq!(chart.lines[0].path, "M166 192L500 96");
    assert_eq!(chart.lines[0].open, "M500 96L833 0");
}

#[test]
fn bars_of_a_period_stand_on_each_other() {
    let chart = Chart::draw(&data(Form::Bars, &[&[30, 0], &[10, 1000]]));
    let places: Vec<(i64, i64)> = chart.bars.iter().map(|bar| (bar.y, bar.height)).collect();
    let bottom = TOP + PLOT_HEIGHT;
    assert_eq!(places, [(bottom - 5, 5), (bottom - 7, 2), (TOP, 192)]);
}

#[test]
fn a_small_number_is_visible() {
    let chart = Chart::draw(&data(Form::Bars, &[&[1, 1_000_000]]));
    assert_eq!(chart.bars[0].height, 1);
}

#[test]
fn the_table_has_each_number_as_text() {
    let html = html(&Chart::draw(&data(Form::Lines, &[&[7, 8], &[9]])));
    for part in [
        "<th scope=\"row\">hour 1</th>",
        "<td class=\"num\">&#60;8&#62;</td>",
        "<td class=\"num\">&#60;0&#62;</td>",
        "hour 0: &#60;7&#62; series 0, &#60;9&#62; series 1",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert!(!html.contains("style="), "{html}");
}

#[test]
fn a_chart_of_nothing_names_that() {
    for values in [&[&[0_i64, 0][..]][..], &[], &[&[]]] {
        let html = html(&Chart::draw(&data(Form::Lines, values)));
        assert!(html.contains("Nothing in this period"), "{html}");
        assert!(!html.contains("<table"), "{html}");
    }
}

#[test]
fn at_most_eight_labels_stand_below_a_chart() {
    for count in [1, 2, 7, 24, 30, 168] {
        let values = vec![1; count];
        let chart = Chart::draw(&data(Form::Bars, &[&values]));
        assert!(
            chart.labels.len() <= MAX_LABELS && !chart.labels.is_empty(),
            "{count}"
        );
        assert_eq!(chart.periods.len(), count);
    }
}
