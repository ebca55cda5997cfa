//! Revenue by month, for operators: a chart, tables and a CSV file.

use super::super::background::State;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::path as account_path;
use super::shared::{csv_file, reload_if};
use console::Section;
use console::chart::{self, Chart, Data, Series};
use console::figures::{counted, naira, short, time};
use console::parts::{Cell, Choice, Column, Empty, Field, Figure, Kind, Table, Tone};
use console::screens::{self, Counted};
use domain::Money;
use domain::revenue::{MAX_MONTHS, Revenue};
use engine::operators::{MonthRevenue, SumProgress};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

const PATH: &str = "/operator/revenue";
/// The choices of months. The first is the default.
const CHOICES: [u8; 4] = [12, 3, 6, MAX_MONTHS];
/// Longest wait of a page for numbers that are being added up.
const WAIT: Duration = Duration::from_secs(1);
const LEAD: &str = "Money that moved in each month of Lagos. Revenue is what messages cost after \
                    refunds, minus what bonuses paid and minus the margins of parents. Costs \
                    of carriers are not in it.";

/// `GET /operator/revenue`. The first visit starts the addition. With `part=state` it answers only
/// whether it has ended. Then the page is loaded again.
pub(super) async fn page(visitor: Visitor) -> Answered {
    if visitor.query().get("part") == "state" {
        let is_running = matches!(visitor.counting().state(), State::Running { .. });
        return Ok(reload_if(!is_running));
    }
    if matches!(visitor.counting().state(), State::None) {
        start(&visitor, CHOICES[0]);
    }
    let state = visitor.counting().ended_within(WAIT).await;
    Ok(visitor.answer(&screen(&visitor, state)))
}

/// `POST /operator/revenue`: adds up again.
pub(super) async fn run(visitor: Visitor, fields: Form) -> Answered {
    let asked = fields.get("months").parse().ok();
    let known = asked.filter(|months| CHOICES.contains(months));
    start(&visitor, known.unwrap_or(CHOICES[0]));
    Ok(visitor.redirect(PATH))
}

fn start(visitor: &Visitor, months: u8) {
    let revenues = visitor.operations().revenue();
    let count = move |progress: Arc<SumProgress>| async move {
        let counted = revenues.count(months, &progress).await;
        if let Err(error) = &counted {
            tracing::warn!(%error, "revenue: not added up, the database failed");
        }
        counted.ok()
    };
    visitor.counting().start(visitor.now_ms(), count);
}

fn screen(visitor: &Visitor, state: State<SumProgress, Vec<MonthRevenue>>) -> screens::Revenue {
    let mut chosen = CHOICES[0];
    let mut refresh = None;
    let mut empty = Empty::new(
        "The numbers could not be added up",
        "The database did not answer. Add up again.",
    );
    let mut found = None;
    match state {
        State::Running { progress, .. } => {
            let (done, all) = progress.read();
            let text = format!(
                "Days that were read: {done} of {all}. The addition goes on when you leave the page."
            );
            empty = Empty::new("The numbers are being added up", text);
            refresh = Some(format!("{PATH}?part=state"));
        }
        State::Ended {
            since_ms,
            result: Some(months),
        } => {
            chosen = u8::try_from(months.len()).unwrap_or(MAX_MONTHS);
            found = numbers(&months, since_ms, visitor.now_ms());
        }
        State::None | State::Ended { result: None, .. } => {}
    }
    let mut choices = CHOICES;
    choices.sort_unstable();
    let choices = choices.map(|one| Choice::new(one.to_string(), format!("Last {one}")));
    let months = Field::new(Kind::Select(choices.to_vec()), "months", "Months");
    screens::Revenue {
        shell: visitor.shell("Revenue", Section::Revenue),
        lead: LEAD.to_owned(),
        fields: vec![months.value(chosen.to_string())],
        href: PATH.to_owned(),
        counted: found,
        empty,
        refresh,
    }
}

fn numbers(months: &[MonthRevenue], at_ms: i64, now_ms: i64) -> Option<Counted> {
    let last = months.last()?;
    let by_month = |label: &str, columns: &[Amount]| {
        let rows = months.iter().rev();
        let rows = rows.map(|one| row(Cell::text(one.month.to_string()), &one.total, columns));
        table((label, "Month"), columns, rows.collect(), now_ms)
    };
    let accounts = last.accounts.iter().map(|(id, revenue)| {
        let account = Cell::link(id.to_string(), account_path(*id));
        row(account, revenue, &OF_ACCOUNT)
    });
    let label = ("Revenue by account", "Account");
    Some(Counted {
        export: (
            format!("Added up at {}", time(at_ms)),
            format!("{PATH}.csv"),
        ),
        figures: figures(&last.total),
        chart: chart(months),
        money_in: by_month("Money in by month", &MONEY_IN),
        revenue: by_month("Revenue by month", &REVENUE),
        title: format!("Accounts in {}, highest revenue first", last.month),
        accounts: table(label, &OF_ACCOUNT, accounts.collect(), now_ms),
        no_accounts: Empty::new(
            "No money moved",
            "Accounts that pay in or send in this month appear here.",
        ),
    })
}

fn figures(revenue: &Revenue) -> Vec<Figure> {
    let top_ups = counted(revenue.top_ups, "top-up");
    let figure =
        |name, amount, note: &str| Figure::new(name, whole(amount)).note(Tone::Plain, note);
    vec![
        figure("Revenue", revenue.earned(), "this month"),
        figure("Paid in", revenue.paid_in, &top_ups),
        figure("VAT", revenue.vat, "of top-ups"),
        figure("Spent", revenue.spent, "after refunds"),
        figure("Margins", revenue.margins, "paid to parents"),
    ]
}

/// Returns an amount without its kobo, which the tables have.
fn whole(amount: Money) -> String {
    let text = naira(amount);
    text.split('.').next().unwrap_or_default().to_owned()
}

/// A column of amounts.
#[derive(Clone, Copy)]
struct Amount {
    name: &'static str,
    of: fn(&Revenue) -> Money,
    /// `true` if a narrow screen leaves it out.
    is_wide: bool,
}

impl Amount {
    const fn new(name: &'static str, of: fn(&Revenue) -> Money) -> Self {
        Self {
            name,
            of,
            is_wide: false,
        }
    }

    const fn wide(name: &'static str, of: fn(&Revenue) -> Money) -> Self {
        Self {
            name,
            of,
            is_wide: true,
        }
    }

    fn column(self) -> Column {
        let column = Column::number(self.name);
        if self.is_wide { column.wide() } else { column }
    }
}

/// The money that came into wallets.
const MONEY_IN: [Amount; 4] = [
    Amount::new("Paid in", |one| one.paid_in),
    Amount::wide("VAT", |one| one.vat),
    Amount::new("Credited", |one| one.credited),
    Amount::wide("Bonus", |one| one.bonus),
];
/// The money that left wallets for messages.
const REVENUE: [Amount; 4] = [
    Amount::new("Spent", |one| one.spent),
    Amount::wide("From bonus", |one| one.from_bonus),
    Amount::wide("Margins", |one| one.margins),
    Amount::new("Revenue", Revenue::earned),
];
/// The amounts of an account.
const OF_ACCOUNT: [Amount; 4] = [
    Amount::wide("Paid in", |one| one.paid_in),
    REVENUE[0],
    REVENUE[2],
    REVENUE[3],
];

fn table(
    (label, first): (&str, &str),
    columns: &[Amount],
    rows: Vec<Vec<Cell>>,
    now_ms: i64,
) -> Table {
    let amounts = columns.iter().map(|amount| amount.column());
    Table {
        label: label.to_owned(),
        columns: [Column::text(first)].into_iter().chain(amounts).collect(),
        rows,
        now_ms,
    }
}

fn row(first: Cell, revenue: &Revenue, columns: &[Amount]) -> Vec<Cell> {
    let amounts = columns
        .iter()
        .map(|amount| Cell::text(naira((amount.of)(revenue))));
    [first].into_iter().chain(amounts).collect()
}

fn series(months: &[MonthRevenue], tone: Tone, amount: Amount) -> Series {
    let values = months.iter().map(|one| (amount.of)(&one.total).units());
    Series {
        name: amount.name.to_owned(),
        tone,
        values: values.collect(),
    }
}

fn chart(months: &[MonthRevenue]) -> Chart {
    let label = |one: &MonthRevenue| {
        let text = one.month.to_string();
        (text.clone(), text)
    };
    Chart::draw(&Data {
        title: "Paid in, revenue and margins by month".to_owned(),
        form: chart::Form::Lines,
        periods: months.iter().map(label).collect(),
        series: vec![
            series(months, Tone::Waiting, MONEY_IN[0]),
            series(months, Tone::Good, REVENUE[3]),
            series(months, Tone::Plain, REVENUE[2]),
        ],
        unit: Money::from_naira(1).units(),
        write: |units| naira(Money::from_units(units)),
        write_short: |units| format!("₦{}", short(units / Money::from_naira(1).units())),
        is_last_open: true,
    })
}

/// `GET /operator/revenue.csv`: the months, oldest first.
pub(super) async fn export(visitor: Visitor) -> Answered {
    let state = visitor.counting().ended_within(WAIT).await;
    let State::Ended {
        result: Some(months),
        ..
    } = state
    else {
        return Ok(visitor.refused(PATH, "The numbers are not added up yet."));
    };
    Ok(csv_file(csv(&months), "revenue.csv"))
}

fn csv(months: &[MonthRevenue]) -> String {
    let mut text =
        "month,top_ups,paid_in,vat,credited,bonus,spent,from_bonus,margins,revenue\r\n".to_owned();
    for one in months {
        let columns = MONEY_IN.iter().chain(&REVENUE);
        let amounts = columns.map(|amount| (amount.of)(&one.total).to_string());
        // Writing to a text cannot fail.
        let _ = write!(
            text,
            "{},{},{}\r\n",
            one.month,
            one.total.top_ups,
            amounts.collect::<Vec<_>>().join(",")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::revenue::Month;

    #[test]
    fn the_file_has_a_line_for_each_month() {
        let mut total = Revenue::default();
        let amounts = [1_000, 75, 50].map(Money::from_naira);
        total.add_top_ups(2, (amounts[0], amounts[1], amounts[2]));
        total.add_margin(Money::from_naira(-3));
        let months = [MonthRevenue {
            month: Month::of(1_795_968_402_000),
            total,
            accounts: Vec::new(),
        }];
        let expected = "month,top_ups,paid_in,vat,credited,bonus,spent,from_bonus,margins,revenue\r\n\
                        2026-11,2,1000.00,75.00,0.00,50.00,0.00,0.00,-3.00,3.00\r\n";
        assert_eq!(csv(&months), expected);
        let shown = numbers(&months, 0, 0).unwrap();
        assert_eq!(shown.money_in.rows.len(), 1);
        assert!(shown.accounts.rows.is_empty());
        assert!(numbers(&[], 0, 0).is_none());
    }
}
