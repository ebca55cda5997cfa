//! `ogene wallet`

use super::answer::{Answer, Failure};
use super::arguments::{account_id, amount};
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::{Naira, lagos_time};
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use domain::{AccountId, Component, Money};
use serde::Serialize;
use store::{EntryKind, LedgerEntry};

#[derive(Subcommand)]
pub(super) enum Wallet {
    /// Add credit; one reference never credits twice
    #[command(
        after_help = "Example: ogene wallet credit --account 1882399170363392 --amount 1000.00 \
        --reference bank-2026-11-21-0017"
    )]
    Credit {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Naira with at most four decimals
        #[arg(long, value_name = "NAIRA", value_parser = credited, allow_negative_numbers = true)]
        amount: Money,
        /// Your reference of the payment
        #[arg(long, value_name = "R")]
        reference: String,
        /// Component of the wallet
        #[arg(long, default_value = "sms_wallet", value_parser = components())]
        component: Component,
    },
    /// Take back a wrong credit, at most the balance; one reference never debits twice
    #[command(
        after_help = "The ledger keeps the credit and has another entry with the negative amount.\n\n\
        Example: ogene wallet debit --account 1882399170363392 --amount 1000.00 \
        --reference bank-2026-11-21-0017-wrong --reason \"credited to the wrong account\""
    )]
    Debit {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Naira with at most four decimals, more than 0
        #[arg(long, value_name = "NAIRA", value_parser = amount)]
        amount: Money,
        /// Your reference of the correction, which must differ from those of the account's credits
        #[arg(long, value_name = "R")]
        reference: String,
        /// Reason, for the audit
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Component of the wallet
        #[arg(long, default_value = "sms_wallet", value_parser = components())]
        component: Component,
    },
    /// Show the entries of an account's ledger, the newest first
    #[command(after_help = "A refund is listed with the charge of its message.\n\n\
        Example: ogene wallet statement --account 1882399170363392 --limit 20")]
    Statement {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        #[command(flatten)]
        page: PageArgs,
    },
}

impl Wallet {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        match self {
            Self::Credit {
                account,
                amount,
                reference,
                component,
            } => {
                let credit = operations
                    .wallets()
                    .credit(account, amount, &reference, component)
                    .await?;
                let json = CreditJson {
                    user_id: account.to_string(),
                    amount: Naira(amount),
                    reference: &reference,
                    component: component.as_str(),
                    credited: credit.new,
                    balance: Naira(credit.balance),
                };
                let done = if credit.new {
                    "Credited"
                } else {
                    "This reference was credited before, so not again:"
                };
                let text = format!(
                    "{done} {amount} NGN to {account}. Balance: {} NGN.",
                    credit.balance
                );
                Answer::new(text, &json)
            }
            Self::Debit {
                account,
                amount,
                reference,
                reason,
                component,
            } => {
                let debit = operations
                    .wallets()
                    .debit(account, amount, &reference, &reason, component)
                    .await?;
                let json = DebitJson {
                    user_id: account.to_string(),
                    amount: Naira(amount),
                    reference: &reference,
                    component: component.as_str(),
                    debited: debit.new,
                    balance: Naira(debit.balance),
                };
                let done = if debit.new {
                    "Took back"
                } else {
                    "This reference was debited before, so not again:"
                };
                let balance = debit.balance;
                let text = format!("{done} {amount} NGN from {account}. Balance: {balance} NGN.");
                Answer::new(text, &json)
            }
            Self::Statement { account, page } => {
                let read = async |request| operations.wallets().statement(account, &request).await;
                page.print(context, COLUMNS, read, stated).await
            }
        }
    }
}

#[derive(Serialize)]
struct CreditJson<'a> {
    user_id: String,
    amount: Naira,
    reference: &'a str,
    component: &'static str,
    /// False where the reference was credited before.
    credited: bool,
    balance: Naira,
}

#[derive(Serialize)]
struct DebitJson<'a> {
    user_id: String,
    amount: Naira,
    reference: &'a str,
    component: &'static str,
    /// False where the reference was debited before.
    debited: bool,
    balance: Naira,
}

/// Reads the amount of a credit. The refusal of a negative amount names the command that takes a
/// credit back.
fn credited(text: &str) -> Result<Money, String> {
    if text.trim_start().starts_with('-') {
        return Err(
            "must be more than 0; a wrong credit is taken back with `ogene wallet debit`"
                .to_owned(),
        );
    }
    amount(text)
}

#[derive(Serialize)]
struct EntryJson<'a> {
    at: String,
    kind: &'a str,
    component: &'static str,
    amount: Naira,
    reference: Option<&'a str>,
    message_id: Option<String>,
    recipient: Option<String>,
}

impl<'a> From<&'a LedgerEntry> for EntryJson<'a> {
    fn from(entry: &'a LedgerEntry) -> Self {
        Self {
            at: lagos_time(entry.created_at_ms),
            kind: entry.kind.as_str(),
            component: entry.component.as_str(),
            amount: Naira(entry.amount),
            reference: entry.reference.as_deref(),
            message_id: (entry.kind != EntryKind::Credit).then(|| entry.subject.to_string()),
            recipient: entry.recipient.map(|recipient| recipient.to_string()),
        }
    }
}

const COLUMNS: [&str; 5] = [
    "AT",
    "KIND",
    "COMPONENT",
    "        AMOUNT",
    "REFERENCE OR MESSAGE",
];

fn stated(entry: &LedgerEntry) -> Result<Row<5>, Failure> {
    let entry = EntryJson::from(entry);
    let subject = [
        entry.reference.map(str::to_owned),
        entry.message_id.clone(),
        entry.recipient.clone(),
    ];
    let cells = [
        entry.at.clone(),
        entry.kind.to_owned(),
        entry.component.to_owned(),
        format!("{:>14}", entry.amount.0.to_string()),
        subject.into_iter().flatten().collect::<Vec<_>>().join(" "),
    ];
    Row::new(&entry, cells)
}

fn components() -> impl TypedValueParser<Value = Component> {
    let names = Component::ALL.into_iter().map(Component::as_str);
    PossibleValuesParser::new(names).try_map(|name| Component::from_name(&name).ok_or(name))
}
