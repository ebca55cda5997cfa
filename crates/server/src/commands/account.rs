//! `ogene account`

use super::answer::{Answer, Failure, pairs};
use super::arguments::{account_id, amount};
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::{Naira, lagos_time};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use domain::{AccountId, AccountStatus, Component, Money, Purse, Queued, Verification};
use engine::operators::Operations;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Subcommand)]
pub(super) enum Account {
    /// Create an account, and print its `user_id`
    #[command(
        after_help = "The database is created if there is none.\n\nExample: ogene account create --name \"Ada Foods\" --email ada@example.ng"
    )]
    Create {
        /// Name of the business or person
        #[arg(long)]
        name: String,
        /// Contact address
        #[arg(long)]
        email: String,
    },
    /// List all accounts, newest first
    #[command(
        after_help = "Examples: ogene account list --json\n          ogene account list --limit 20"
    )]
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show one account with its balances
    #[command(after_help = "Example: ogene account show --account 1882399170363392")]
    Show(Which),
    /// Set the status of an account: the requests that it may make
    #[command(name = "set-status")]
    #[command(
        after_help = "active: all requests; pending: the sandbox only; restricted: reading, no sending; \
        dormant, disabled: no request.\n\n\
        Queued recipients of an account that may not send are held (--queued hold). They continue when the account is \
        active again, unless they have expired by then. --queued cancel ends them now: each recipient becomes `failed`, \
        gets a callback, and the charge of its unsubmitted pages is refunded. --queued send submits them. The command may \
        be repeated with another choice. Recipients that were submitted meanwhile stay sent and charged.\n\n\
        Examples: ogene account set-status --account 1882399170363392 --status restricted\n          \
        ogene account set-status --account 1882399170363392 --status disabled --queued cancel"
    )]
    SetStatus {
        #[command(flatten)]
        which: Which,
        /// The new status
        #[arg(long, value_parser = statuses())]
        status: AccountStatus,
        /// The fate of queued messages while the account may not send [default: hold]
        #[arg(long, value_parser = queued_choices())]
        queued: Option<Queued>,
    },
    /// Set or remove the daily limit: the most that an account may be charged in a day
    #[command(
        after_help = "A day is a calendar day in Lagos. Charges of today count, also earlier ones. Refunds do not reduce \
        the sum, and the sandbox does not count. A send above the limit is refused with API-3004 until midnight. \
        If the clock was days ahead, set the limit again: this counts the charges of today anew.\n\n\
        Examples: ogene account limit --account 1882399170363392 --per-day 5000.00\n          \
        ogene account limit --account 1882399170363392 --per-day none"
    )]
    Limit {
        #[command(flatten)]
        which: Which,
        /// Naira with at most four decimals, or `none`
        #[arg(long, value_name = "NAIRA", value_parser = per_day)]
        per_day: PerDay,
    },
    /// Set how far the holder of an account is verified
    #[command(name = "set-verification")]
    #[command(
        after_help = "Example: ogene account set-verification --account 1882399170363392 --level verified"
    )]
    SetVerification {
        #[command(flatten)]
        which: Which,
        /// The new level
        #[arg(long, value_parser = levels())]
        level: Verification,
    },
}

/// The account of a command.
#[derive(Args)]
pub(super) struct Which {
    /// The account's `user_id`
    #[arg(long, value_name = "ID", value_parser = account_id)]
    account: AccountId,
}

impl Account {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = match self {
            Self::Create { .. } => context.open_or_make().await?,
            _ => context.open().await?,
        };
        match self {
            Self::Create { name, email } => {
                let account = operations.accounts().create(&name, &email).await?;
                shown(&account, None, More::default())
            }
            Self::List { page } => {
                let read = async |request| operations.accounts().list(&request).await;
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Show(which) => show(&operations, which.account).await,
            Self::Limit { which, per_day } => {
                operations
                    .accounts()
                    .set_daily_limit(which.account, per_day.0)
                    .await?;
                show(&operations, which.account).await
            }
            Self::SetStatus {
                which,
                status,
                queued,
            } => {
                let id = which.account;
                let settled = operations.accounts().set_status(id, status, queued).await?;
                let is_cancelled = queued == Some(Queued::Cancel);
                let cancelled = is_cancelled.then_some(settled.cancelled);
                show_with(&operations, id, cancelled).await
            }
            Self::SetVerification { which, level } => {
                operations
                    .accounts()
                    .set_verification(which.account, level)
                    .await?;
                show(&operations, which.account).await
            }
        }
    }
}

/// Maximum naira that may be spent in a day.
#[derive(Clone, Copy)]
pub(super) struct PerDay(Option<Money>);

fn per_day(text: &str) -> Result<PerDay, String> {
    match text {
        "none" => Ok(PerDay(None)),
        text => amount(text).map(|amount| PerDay(Some(amount))),
    }
}

async fn show(operations: &Operations, id: AccountId) -> Result<Answer, Failure> {
    show_with(operations, id, None).await
}

/// Returns the account, and the number of recipients that were just cancelled.
async fn show_with(
    operations: &Operations,
    id: AccountId,
    cancelled: Option<usize>,
) -> Result<Answer, Failure> {
    let queued = operations.accounts().queued(id).await?;
    let (account, purse) = operations.accounts().show(id).await?;
    let spending = operations.accounts().spending(id).await?;
    let spent = spending.spent_by(operations.actor().clock().now_ms());
    let limit = spending.per_day.map(|per_day| (per_day, spent));
    let more = More {
        limit,
        queued,
        cancelled,
    };
    shown(&account, Some(&purse), more)
}

/// The details of one account.
#[derive(Clone, Copy, Default)]
struct More {
    /// The daily limit, and the amount spent today.
    limit: Option<(Money, Money)>,
    queued: Option<Queued>,
    cancelled: Option<usize>,
}

#[derive(Serialize)]
struct AccountJson<'a> {
    user_id: String,
    name: &'a str,
    email: &'a str,
    account_status: &'static str,
    verification_level: &'static str,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    balance: Option<BTreeMap<&'static str, Naira>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_per_day: Option<Naira>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spent_today: Option<Naira>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queued: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_recipients: Option<usize>,
}

impl<'a> AccountJson<'a> {
    fn new(account: &'a domain::Account, purse: Option<&Purse>) -> Self {
        Self {
            user_id: account.id.to_string(),
            name: &account.name,
            email: &account.email,
            account_status: account.status.as_str(),
            verification_level: account.verification.as_str(),
            created_at: lagos_time(account.created_at_ms),
            balance: purse.map(|purse| balances(purse).into_iter().collect()),
            limit_per_day: None,
            spent_today: None,
            queued: None,
            cancelled_recipients: None,
        }
    }
}

fn shown(account: &domain::Account, purse: Option<&Purse>, more: More) -> Result<Answer, Failure> {
    let limit = more.limit;
    let json = AccountJson {
        limit_per_day: limit.map(|(per_day, _)| Naira(per_day)),
        spent_today: limit.map(|(_, spent)| Naira(spent)),
        queued: more.queued.map(Queued::as_str),
        cancelled_recipients: more.cancelled,
        ..AccountJson::new(account, purse)
    };
    let mut lines = vec![
        ("user_id", json.user_id.clone()),
        ("name", json.name.to_owned()),
        ("email", json.email.to_owned()),
        ("status", json.account_status.to_owned()),
        ("verification", json.verification_level.to_owned()),
        ("created", json.created_at.clone()),
    ];
    let balances = purse.map(balances).unwrap_or_default();
    lines.extend(
        balances
            .into_iter()
            .map(|(name, amount)| (name, format!("{} NGN", amount.0))),
    );
    if let Some((per_day, spent)) = limit {
        lines.push(("limit_per_day", format!("{per_day} NGN")));
        lines.push(("spent_today", format!("{spent} NGN")));
    }
    if let Some(queued) = json.queued {
        lines.push(("queued", queued.to_owned()));
    }
    if let Some(cancelled) = json.cancelled_recipients {
        lines.push(("cancelled_recipients", cancelled.to_string()));
    }
    Answer::new(pairs(&lines), &json)
}

const COLUMNS: [&str; 6] = [
    "USER_ID",
    "STATUS",
    "VERIFICATION",
    "CREATED",
    "EMAIL",
    "NAME",
];

fn listed(account: &domain::Account) -> Result<Row<6>, Failure> {
    let json = AccountJson::new(account, None);
    let cells = [
        json.user_id.clone(),
        json.account_status.to_owned(),
        json.verification_level.to_owned(),
        json.created_at.clone(),
        json.email.to_owned(),
        json.name.to_owned(),
    ];
    Row::new(&json, cells)
}

/// Returns the total, then each component, under the names of the API.
fn balances(purse: &Purse) -> Vec<(&'static str, Naira)> {
    let total = std::iter::once(("total_balance", Naira(purse.total())));
    let component = |component: Component| (component.as_str(), Naira(purse.get(component)));
    total
        .chain(Component::ALL.into_iter().map(component))
        .collect()
}

fn statuses() -> impl TypedValueParser<Value = AccountStatus> {
    let names = AccountStatus::ALL.iter().map(|status| status.as_str());
    PossibleValuesParser::new(names).try_map(|name| AccountStatus::from_name(&name).ok_or(name))
}

fn queued_choices() -> impl TypedValueParser<Value = Queued> {
    let names = Queued::ALL.iter().map(|queued| queued.as_str());
    PossibleValuesParser::new(names).try_map(|name| Queued::from_name(&name).ok_or(name))
}

fn levels() -> impl TypedValueParser<Value = Verification> {
    let names = Verification::ALL.iter().map(|level| level.as_str());
    PossibleValuesParser::new(names).try_map(|name| Verification::from_name(&name).ok_or(name))
}
