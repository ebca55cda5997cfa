//! The first page of customers and of operators.

use super::super::page::Answered;
use super::super::visitor::Visitor;
use console::Section;
use console::figures::{date, naira};
use console::screens::Welcome;
use engine::operators::PageRequest;

/// `GET /console`.
pub(super) async fn to_customer(visitor: Visitor) -> Answered {
    Ok(visitor.to("/console/"))
}

/// `GET /operator`.
pub(super) async fn to_operator(visitor: Visitor) -> Answered {
    Ok(visitor.to("/operator/"))
}

/// `GET /console/`.
pub(super) async fn of_customer(visitor: Visitor) -> Answered {
    let accounts = visitor.operations().accounts();
    let (account, purse) = accounts.show(visitor.account()?).await?;
    let screen = Welcome {
        shell: visitor.shell("Overview", Section::Overview),
        text: format!("Welcome, {}.", visitor.visit.user_name),
        facts: vec![
            ("Balance".to_owned(), naira(purse.total())),
            ("Status".to_owned(), account.status.as_str().to_owned()),
            ("Customer since".to_owned(), date(account.created_at_ms)),
        ],
    };
    Ok(visitor.answer(&screen))
}

/// `GET /operator/`.
pub(super) async fn of_operator(visitor: Visitor) -> Answered {
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
