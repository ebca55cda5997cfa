//! `ogene sub-account`

use super::answer::{Answer, Failure, pairs};
use super::arguments::{account_id, amount};
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::{Naira, lagos_time};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use domain::resale::{
    Direction, PagePrice, PriceFields, SubAccountChangeFields, SubAccountFields, TransferFields,
};
use domain::{AccountId, Money};
use engine::SubAccount;
use engine::operators::{OperationError, SubAccounts};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Subcommand)]
pub(super) enum SubAccountCommand {
    /// List the sub-accounts of an account, newest first
    #[command(after_help = "Example: ogene sub-account list --account 1882399170363392")]
    List {
        /// The parent's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show a sub-account, with its prices beside those of its parent
    #[command(
        after_help = "The price of the parent is its highest over all networks, so the margin is the least that the parent gets.\n\n\
        Example: ogene sub-account show --sub-account 1882399170363400"
    )]
    Show(Which),
    /// Create a sub-account, and print its `user_id` and first token; the token is shown only once
    #[command(
        after_help = "Its wallet is empty, and it pays the prices of its parent until others are set.\n\n\
        Example: ogene sub-account create --account 1882399170363392 --name \"Ada Foods\" --email ada@example.ng"
    )]
    Create {
        /// The parent's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Name of the business or person
        #[arg(long)]
        name: String,
        /// Contact address
        #[arg(long)]
        email: String,
    },
    /// Change the status, daily limit or prices of a sub-account; what is not given stays
    #[command(
        after_help = "A price is not below that of the parent. Without a price for Unicode pages it is twice the price of a page. \
        Queued recipients of a disabled sub-account are held.\n\n\
        Examples: ogene sub-account change --sub-account 1882399170363400 --status disabled\n          \
        ogene sub-account change --sub-account 1882399170363400 --daily-limit 5000.00 --price otp=7.50\n          \
        ogene sub-account change --sub-account 1882399170363400 --price direct-refund=7.50/14.00 --price otp=none"
    )]
    Change(Change),
    /// Move money between a sub-account and its parent; one reference never transfers twice
    #[command(
        after_help = "Example: ogene sub-account transfer --sub-account 1882399170363400 --amount 1000.00 \
        --direction to_sub --reference invoice-17"
    )]
    Transfer(Transfer),
}

/// The sub-account of a command.
#[derive(Args)]
pub(super) struct Which {
    /// The sub-account's `user_id`
    #[arg(long, value_name = "ID", value_parser = account_id)]
    sub_account: AccountId,
}

#[derive(Args)]
pub(super) struct Change {
    #[command(flatten)]
    which: Which,
    /// The new status
    #[arg(long, value_parser = PossibleValuesParser::new(["active", "disabled"]))]
    status: Option<String>,
    /// Naira that it may spend in a day, or `none`
    #[arg(long, value_name = "NAIRA")]
    daily_limit: Option<String>,
    /// Naira a page over a gateway, as GATEWAY=PRICE, GATEWAY=PRICE/UNICODE or GATEWAY=none; may be
    /// repeated
    #[arg(long, value_name = "PRICE", value_parser = price)]
    price: Vec<(String, PriceFields)>,
}

#[derive(Args)]
pub(super) struct Transfer {
    #[command(flatten)]
    which: Which,
    /// Naira with at most two decimals
    #[arg(long, value_name = "NAIRA", value_parser = amount)]
    amount: Money,
    /// The direction
    #[arg(long, value_parser = directions())]
    direction: Direction,
    /// Your reference of the transfer
    #[arg(long, value_name = "R")]
    reference: String,
}

/// Reads the price of a gateway. Its amounts are read with the change.
fn price(text: &str) -> Result<(String, PriceFields), String> {
    let (gateway, price) = text
        .split_once('=')
        .ok_or("give a gateway and a price, such as otp=7.50")?;
    let mut fields = PriceFields::default();
    if price != "none" {
        let (plain, unicode) = match price.split_once('/') {
            Some((plain, unicode)) => (plain, Some(unicode.to_owned())),
            None => (price, None),
        };
        fields.price = Some(plain.to_owned());
        fields.unicode_price = unicode;
    }
    Ok((gateway.to_owned(), fields))
}

fn directions() -> impl TypedValueParser<Value = Direction> {
    let names = Direction::ALL.iter().map(|direction| direction.as_str());
    PossibleValuesParser::new(names).try_map(|name| Direction::from_name(&name).ok_or(name))
}

/// Returns the parent of a sub-account.
async fn parent(accounts: &SubAccounts, id: AccountId) -> Result<AccountId, Failure> {
    let parent = accounts.parent(id).await?;
    Ok(parent.ok_or(OperationError::NoSubAccount(id))?)
}

impl SubAccountCommand {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let rules = context.config()?.settings().rules;
        let accounts = context.open().await?.sub_accounts(rules);
        match self {
            Self::List { account, page } => {
                let read = async |request| accounts.list(account, &request).await;
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Show(which) => {
                let id = which.sub_account;
                let sub = accounts.show(parent(&accounts, id).await?, id).await?;
                shown(&sub, &accounts.prices(&sub), None)
            }
            Self::Create {
                account,
                name,
                email,
            } => {
                let fields = SubAccountFields {
                    name: Some(name),
                    email: Some(email),
                };
                let (sub, token) = accounts.create(account, &fields).await?;
                shown(&sub, &accounts.prices(&sub), Some(&token))
            }
            Self::Change(change) => {
                let id = change.which.sub_account;
                let parent = parent(&accounts, id).await?;
                let sub = accounts.change(parent, id, &change.fields()).await?;
                shown(&sub, &accounts.prices(&sub), None)
            }
            Self::Transfer(transfer) => transfer.run(&accounts).await,
        }
    }
}

impl Change {
    fn fields(self) -> SubAccountChangeFields {
        // The interface takes a blank text for no limit.
        let none = |text: String| if text == "none" { String::new() } else { text };
        SubAccountChangeFields {
            status: self.status,
            daily_limit: self.daily_limit.map(none),
            prices: self.price,
        }
    }
}

impl Transfer {
    async fn run(self, accounts: &SubAccounts) -> Result<Answer, Failure> {
        let id = self.which.sub_account;
        let parent = parent(accounts, id).await?;
        let fields = TransferFields {
            amount: Some(self.amount.to_string()),
            direction: Some(self.direction.as_str().to_owned()),
            reference: Some(self.reference),
        };
        let made = accounts.transfer(parent, id, &fields).await?;
        let request = &made.request;
        let (from, to) = match request.direction {
            Direction::ToSub => (parent, id),
            Direction::FromSub => (id, parent),
        };
        let text = format!(
            "Transferred {} NGN from {from} to {to} at {}.",
            request.amount,
            lagos_time(made.created_at_ms)
        );
        let json = json!({
            "transfer_id": made.id.to_string(),
            "sub_account_id": id.to_string(),
            "amount": Naira(request.amount),
            "direction": request.direction.as_str(),
            "reference": request.reference,
            "created_at": lagos_time(made.created_at_ms),
        });
        Answer::new(text, &json)
    }
}

#[derive(Serialize)]
struct SubAccountJson<'a> {
    sub_account_id: String,
    parent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    name: &'a str,
    email: &'a str,
    status: &'static str,
    daily_limit: Option<Naira>,
    balance: Naira,
    created_at: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    prices: BTreeMap<&'static str, PriceJson>,
}

#[derive(Serialize)]
struct PriceJson {
    /// The highest price of the parent.
    own: Naira,
    own_unicode: Naira,
    price: Naira,
    unicode_price: Naira,
    /// False where the sub-account pays the price of its parent.
    set: bool,
}

impl<'a> SubAccountJson<'a> {
    fn new(sub: &'a SubAccount, prices: &[PagePrice]) -> Self {
        let account = &sub.account;
        let prices = prices.iter().map(|one| {
            let paid = one.paid();
            let json = PriceJson {
                own: Naira(one.own.plain),
                own_unicode: Naira(one.own.unicode),
                price: Naira(paid.plain),
                unicode_price: Naira(paid.unicode),
                set: one.set.is_some(),
            };
            (one.gateway.as_str(), json)
        });
        Self {
            sub_account_id: account.id.to_string(),
            parent: sub.parent.to_string(),
            token: None,
            name: &account.name,
            email: &account.email,
            status: account.status.as_str(),
            daily_limit: sub.per_day.map(Naira),
            balance: Naira(sub.balance),
            created_at: lagos_time(account.created_at_ms),
            prices: prices.collect(),
        }
    }

    fn daily_limit(&self) -> String {
        let limit = self.daily_limit.as_ref();
        limit.map_or_else(|| "none".to_owned(), |limit| format!("{} NGN", limit.0))
    }
}

fn shown(sub: &SubAccount, prices: &[PagePrice], token: Option<&str>) -> Result<Answer, Failure> {
    let json = SubAccountJson {
        token,
        ..SubAccountJson::new(sub, prices)
    };
    let mut lines = vec![
        ("sub_account_id", json.sub_account_id.clone()),
        ("parent", json.parent.clone()),
        ("name", json.name.to_owned()),
        ("email", json.email.to_owned()),
        ("status", json.status.to_owned()),
        ("daily_limit", json.daily_limit()),
        ("balance", format!("{} NGN", sub.balance)),
        ("created", json.created_at.clone()),
    ];
    lines.extend(token.map(|token| ("token", token.to_owned())));
    for one in prices {
        let (paid, margin) = (one.paid(), one.margin());
        let text = format!(
            "{} NGN a page, {} NGN in Unicode, margin {} and {} NGN",
            paid.plain, paid.unicode, margin.plain, margin.unicode
        );
        lines.push((one.gateway.as_str(), text));
    }
    let hint = match token {
        Some(_) => "\nKeep the token now: it is not shown again.",
        None => "",
    };
    Answer::new(format!("{}{hint}", pairs(&lines)), &json)
}

const COLUMNS: [&str; 7] = [
    "SUB_ACCOUNT_ID",
    "STATUS",
    "BALANCE",
    "DAILY_LIMIT",
    "CREATED",
    "EMAIL",
    "NAME",
];

fn listed(sub: &SubAccount) -> Result<Row<7>, Failure> {
    let json = SubAccountJson::new(sub, &[]);
    let cells = [
        json.sub_account_id.clone(),
        json.status.to_owned(),
        sub.balance.to_string(),
        sub.per_day
            .map_or_else(|| "-".to_owned(), |limit| limit.to_string()),
        json.created_at.clone(),
        json.email.to_owned(),
        json.name.to_owned(),
    ];
    Row::new(&json, cells)
}
