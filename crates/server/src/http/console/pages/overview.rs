//! The first page of customers.

mod attention;
mod numbers;

use super::super::page::Answered;
use super::super::visitor::Visitor;
use console::Section;
use console::screens::{Measure, Overview, Period};

/// `GET /console`.
pub(super) async fn to_customer(visitor: Visitor) -> Answered {
    Ok(visitor.redirect("/console/"))
}

/// `GET /console/`. The field `part` asks for the numbers alone, which replace those of an open page.
pub(super) async fn of_customer(visitor: Visitor) -> Answered {
    let query = visitor.query();
    let period = Period::parse(query.get("period"));
    let measure = Measure::parse(query.get("measure"));
    let live = numbers::read(&visitor, period, measure).await?;
    if query.get("part") == "numbers" {
        return Ok(visitor.answer(&live));
    }
    let shell = visitor.shell("Overview", Section::Overview);
    Ok(visitor.answer(&Overview { shell, live }))
}
