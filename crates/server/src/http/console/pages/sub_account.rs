//! The page of one sub-account.

use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::status;
use super::lists::{confirm, dangerous};
use super::sub_account_parts::{LIVE_ONLY, PATH, accounts, may_change, path, sub_account};
use console::figures::{count, date, naira, time};
use console::parts::{Cell, Choice, Column, Confirm, Empty, Field, Figure, Kind, Table, Tone};
use console::screens::{Details, Part, SmallForm};
use console::{Notice, Section};
use domain::resale::{Direction, PagePrice};
use domain::user::role::Permission::ManageMoney;
use domain::{AccountStatus, Gateway, Money, Price};
use engine::SubAccount;
use engine::operators::ResaleUsage;

/// The period of the usage.
pub(super) const DAYS: i64 = 30;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Characters of the reference that a form is made with. They have 96 random bits.
const REFERENCE_CHARACTERS: usize = 16;

/// `GET /console/sub-accounts/{id}`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let sub = sub_account(&visitor).await?;
    let accounts = accounts(&visitor);
    let usage = accounts.usage(&sub, since_ms(&visitor)).await?;
    let prices = accounts.prices(&sub);
    let mut shell = visitor.shell(&sub.account.name, Section::SubAccounts);
    if !may_change(&visitor) && visitor.may(ManageMoney) {
        shell.notices.push(Notice {
            tone: Tone::Plain,
            text: LIVE_ONLY.to_owned(),
        });
    }
    let mut sections = vec![
        used(&visitor, &sub, &usage),
        priced(&visitor, &sub, &prices),
    ];
    if may_change(&visitor) {
        sections.push(transfer(&visitor, &sub));
        sections.push(limit(&sub));
    }
    let screen = Details {
        shell,
        back: ("All sub-accounts".to_owned(), PATH.to_owned()),
        changes: changes(&visitor, &sub),
        figures: figures(&sub, &usage),
        facts: facts(&sub, &usage),
        sections,
        refresh: None,
    };
    Ok(visitor.answer(&screen))
}

/// Returns the start of the usage that pages show.
pub(super) fn since_ms(visitor: &Visitor) -> i64 {
    visitor.now_ms() - DAYS * DAY_MS
}

fn changes(visitor: &Visitor, sub: &SubAccount) -> Vec<Confirm> {
    let account = &sub.account;
    if !may_change(visitor) {
        return Vec::new();
    }
    let change = |to: AccountStatus, action: &str, text: &str| {
        confirm(
            visitor,
            (to.as_str(), action),
            (&format!("{action} {}?", account.name), text),
            &format!("{}/status", path(account.id)),
            &[("status", to.as_str())],
        )
    };
    match account.status {
        AccountStatus::Active => {
            let text = "It does nothing then. Its queue waits until it is active.";
            vec![dangerous(change(AccountStatus::Disabled, "Disable", text))]
        }
        AccountStatus::Disabled => {
            let text = "It sends again, and its queue goes out.";
            vec![change(AccountStatus::Active, "Reactivate", text)]
        }
        // The operator set the status, and only the operator changes it.
        AccountStatus::Pending | AccountStatus::Dormant | AccountStatus::Restricted => Vec::new(),
    }
}

fn figures(sub: &SubAccount, usage: &ResaleUsage) -> Vec<Figure> {
    let sum = |part: fn(&engine::Usage) -> u64| usage.gateways.iter().map(part).sum::<u64>();
    let spent = usage.gateways.iter().map(|one| one.cost - one.refunded);
    let messages = format!("{}/messages", path(sub.account.id));
    vec![
        Figure::new("Balance", naira(sub.balance)),
        Figure::new("Messages", count(sum(|one| one.messages)))
            .note(Tone::Plain, "Show them")
            .href(messages),
        Figure::new("Delivered", count(sum(|one| one.delivered))).note(
            Tone::Plain,
            format!("{} failed", count(sum(|one| one.failed))),
        ),
        Figure::new("Spent", naira(spent.sum::<Money>())),
        Figure::new("Your margin", naira(usage.margin)),
    ]
}

fn facts(sub: &SubAccount, usage: &ResaleUsage) -> Vec<(String, String)> {
    let account = &sub.account;
    let period = match usage.counted_since_ms {
        Some(at_ms) => format!("Since {}; older messages are not counted", time(at_ms)),
        None => format!("The last {DAYS} days"),
    };
    let facts = [
        ("Id", account.id.to_string()),
        ("E-mail", account.email.clone()),
        ("Status", status(account.status).text),
        (
            "Daily limit",
            sub.per_day.map_or_else(|| "None".to_owned(), naira),
        ),
        ("Created", date(account.created_at_ms)),
        ("Usage of", period),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn used(visitor: &Visitor, sub: &SubAccount, usage: &ResaleUsage) -> Part {
    let messages = format!("{}/messages", path(sub.account.id));
    let rows = usage.gateways.iter().map(|one| {
        vec![
            Cell::link(&one.key, format!("{messages}?gateway={}", one.key)),
            Cell::text(count(one.messages)),
            Cell::text(count(one.recipients)),
            Cell::text(count(one.delivered)),
            Cell::text(count(one.failed)),
            Cell::text(naira(one.cost - one.refunded)),
        ]
    });
    Part {
        title: "Usage".to_owned(),
        lead: String::new(),
        table: Some(Table {
            label: "Usage by gateway".to_owned(),
            columns: vec![
                Column::text("Gateway"),
                Column::number("Messages"),
                Column::number("Recipients").wide(),
                Column::number("Delivered").wide(),
                Column::number("Failed").wide(),
                Column::number("Spent"),
            ],
            rows: rows.collect(),
            now_ms: visitor.now_ms(),
        }),
        empty: Some(Empty::new(
            "No messages",
            "It has sent nothing in this time. Its usage appears here by gateway.",
        )),
        form: None,
    }
}

/// Returns the table of prices, and the form that sets one.
fn priced(visitor: &Visitor, sub: &SubAccount, prices: &[PagePrice]) -> Part {
    let rows = prices.iter().map(|one| {
        vec![
            Cell::text(one.gateway.as_str()),
            Cell::text(page_price(one.own)),
            Cell::text(
                one.set
                    .map_or_else(|| "Yours".to_owned(), |_| page_price(one.paid())),
            ),
            Cell::text(page_price(one.margin())),
        ]
    });
    Part {
        title: "Prices".to_owned(),
        lead: "Each cell has the naira of a page / of a Unicode page. Your own price is the \
               highest of all networks, so the margin is the least that you get."
            .to_owned(),
        table: Some(Table {
            label: "Prices by gateway".to_owned(),
            columns: vec![
                Column::text("Gateway"),
                Column::number("Your price"),
                Column::number("Its price"),
                Column::number("Margin"),
            ],
            rows: rows.collect(),
            now_ms: visitor.now_ms(),
        }),
        empty: Some(Empty::new("No gateway", "No gateway is configured.")),
        form: may_change(visitor).then(|| price_form(sub, prices)),
    }
}

/// Returns the prices of a page and of a Unicode page.
pub(super) fn page_price(price: Price) -> String {
    format!("{} / {}", naira(price.plain), naira(price.unicode))
}

fn price_form(sub: &SubAccount, prices: &[PagePrice]) -> SmallForm {
    let name = |one: &PagePrice| Choice::new(one.gateway.as_str(), one.gateway.as_str());
    let gateways = prices.iter().map(name);
    SmallForm {
        href: format!("{}/price", path(sub.account.id)),
        fields: vec![
            Field::new(Kind::Select(gateways.collect()), "gateway", "Gateway")
                .value(Gateway::DirectRefund.as_str()),
            Field::text("price", "Naira a page")
                .hint("Such as 6.50, not below your own. Without an amount it pays your price.")
                .optional()
                .inputmode("decimal"),
            Field::text("unicode_price", "Naira a Unicode page")
                .hint("Without an amount it is twice the price of a page.")
                .optional()
                .inputmode("decimal"),
        ],
        action: "Set price".to_owned(),
    }
}

/// Returns the form of a transfer. It has a reference of its own, so that a form that is sent twice
/// transfers once.
fn transfer(visitor: &Visitor, sub: &SubAccount) -> Part {
    let name = &sub.account.name;
    let directions = vec![
        Choice::new(Direction::ToSub.as_str(), format!("To {name}")),
        Choice::new(Direction::FromSub.as_str(), format!("Back from {name}")),
    ];
    let secret = visitor.sessions().new_secret();
    let reference: String = secret.text().chars().take(REFERENCE_CHARACTERS).collect();
    let form = SmallForm {
        href: format!("{}/transfer", path(sub.account.id)),
        fields: vec![
            Field::new(Kind::Radio(directions), "direction", "Direction")
                .value(Direction::ToSub.as_str()),
            Field::text("amount", "Amount in naira")
                .hint("Digits and a point, such as 1000.00.")
                .inputmode("decimal")
                .autocomplete("off"),
            Field::text("reference", "Reference")
                .hint("A reference counts for one transfer. You may write your own.")
                .value(format!("console-{reference}"))
                .autocomplete("off"),
        ],
        action: "Transfer".to_owned(),
    };
    let lead = "The money moves at once between your wallet and that of the sub-account.";
    Part::form("Transfer", lead, form)
}

fn limit(sub: &SubAccount) -> Part {
    let value = sub.per_day.map(|limit| limit.to_string());
    let field = Field::text("daily_limit", "Naira a day")
        .hint("Without an amount there is no limit.")
        .optional()
        .inputmode("decimal")
        .value(value.unwrap_or_default());
    let form = SmallForm {
        href: format!("{}/limit", path(sub.account.id)),
        fields: vec![field],
        action: "Set limit".to_owned(),
    };
    let lead = "A day is a calendar day in Lagos. A send beyond the limit is refused.";
    Part::form("Daily limit", lead, form)
}
