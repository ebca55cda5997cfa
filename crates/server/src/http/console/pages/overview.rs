//! The first page of customers and of operators.

mod attention;
mod numbers;

use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::first_steps;
use console::Section;
use console::screens::{Measure, Overview, Period, Welcome};
use engine::operators::PageRequest;

/// `GET /console`.
pub(super) async fn to_customer(visitor: Visitor) -> Answered {
    Ok(visitor.to("/console/"))
}

/// `GET /operator`.
pub(super) async fn to_operator(visitor: Visitor) -> Answered {
    Ok(visitor.to("/operator/"))
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

/// `GET /operator/`. It leads to the first steps while the installation has no account.
pub(super) async fn of_operator(visitor: Visitor) -> Answered {
    if first_steps::are_due(&visitor).await? {
        return Ok(visitor.to(first_steps::PATH));
    }
    let accounts = visitor.operations().accounts();
    let newest = accounts.list(&PageRequest::default()).await?;
    let screen = Welcome {
        shell: visitor.shell("Overview", Section::Operations),
        text: format!("Welcome, {}.", visitor.visit.user_name),
        facts: newest
            .items
            .iter()
            .take(10)
            .map(|account| (account.name.clone(), account.status.as_str().to_owned()))
            .collect(),
    };
    Ok(visitor.answer(&screen))
}
