//! `ogene top-up`

use super::answer::{Answer, Failure};
use super::arguments::{account_id, amount};
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::{Naira, lagos_time};
use clap::Subcommand;
use domain::payment::{Acceptance, TopUp, TopUpId, TopUpState};
use domain::{AccountId, Money};
use serde::Serialize;

#[derive(Subcommand)]
pub(super) enum TopUps {
    /// List live top-ups, the newest first
    #[command(
        after_help = "A mismatch is a payment that does not fit its top-up. Nothing is credited for it until you accept it.\n\n\
        Example: ogene top-up list --mismatches"
    )]
    List {
        /// Only the top-ups of this account, by its `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id, conflicts_with = "mismatches")]
        account: Option<AccountId>,
        /// Only mismatches
        #[arg(long)]
        mismatches: bool,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Credit a mismatch, once
    #[command(
        after_help = "Compare the payment with the dashboard of the provider first. A payment of a reference that is not ours \
        needs --account and --amount. Another amount than that of the top-up has its own VAT and no bonus.\n\n\
        Example: ogene top-up accept --id 019a5c1e-9f00-7abc-8000-000000000001 --amount 900.00"
    )]
    Accept {
        /// The top-up
        #[arg(long, value_name = "ID")]
        id: TopUpId,
        /// The account's `user_id`, if the payment names none
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        /// Naira with at most two decimals [default: the amount of the top-up]
        #[arg(long, value_name = "NAIRA", value_parser = amount)]
        amount: Option<Money>,
    },
    /// Reject a mismatch, so that nothing is credited
    #[command(
        after_help = "The money stays with the provider: pay it back there. A rejected one can still be accepted.\n\n\
        Example: ogene top-up reject --id 019a5c1e-9f00-7abc-8000-000000000001"
    )]
    Reject {
        /// The top-up
        #[arg(long, value_name = "ID")]
        id: TopUpId,
    },
}

impl TopUps {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        match self {
            Self::List {
                account,
                mismatches,
                page,
            } => {
                let state = mismatches.then_some(TopUpState::Mismatch);
                let read = async |request| {
                    let top_ups = operations.top_ups();
                    top_ups.list(account, state, &request).await
                };
                page.print(context, COLUMNS, read, row).await
            }
            Self::Accept {
                id,
                account,
                amount,
            } => {
                let acceptance = Acceptance { account, amount };
                let accepted = operations.top_ups().accept(id, acceptance).await?;
                let owner = accepted.account.unwrap_or(AccountId(0));
                let (amount, bonus) = (accepted.price.amount, accepted.price.bonus);
                let number = accepted.receipt_number.unwrap_or_default();
                let text = format!(
                    "Credited {} NGN to {owner}, receipt {number}.",
                    amount + bonus
                );
                Answer::new(text, &TopUpJson::from(&accepted))
            }
            Self::Reject { id } => {
                let rejected = operations.top_ups().reject(id).await?;
                let text = format!(
                    "Rejected. Nothing is credited; pay it back at {}.",
                    rejected.provider
                );
                Answer::new(text, &TopUpJson::from(&rejected))
            }
        }
    }
}

#[derive(Serialize)]
struct TopUpJson<'a> {
    top_up_id: String,
    user_id: Option<String>,
    provider: &'a str,
    reference: &'a str,
    state: &'static str,
    amount: Naira,
    vat: Naira,
    bonus: Naira,
    /// The money that the provider received.
    received: Option<Naira>,
    currency: Option<&'a str>,
    payment_id: Option<&'a str>,
    /// The reason why the payment does not fit.
    mismatch: Option<&'static str>,
    created_at: String,
    paid_at: Option<String>,
    receipt_number: Option<i64>,
}

impl<'a> From<&'a TopUp> for TopUpJson<'a> {
    fn from(top_up: &'a TopUp) -> Self {
        let received = top_up.received.as_ref();
        Self {
            top_up_id: top_up.id.to_string(),
            user_id: top_up.account.map(|account| account.to_string()),
            provider: &top_up.provider,
            reference: &top_up.reference,
            state: top_up.state.as_str(),
            amount: Naira(top_up.price.amount),
            vat: Naira(top_up.price.vat),
            bonus: Naira(top_up.price.bonus),
            received: received.map(|received| Naira(received.amount)),
            currency: received.map(|received| received.currency.as_str()),
            payment_id: received.map(|received| received.payment_id.as_str()),
            mismatch: top_up.mismatch.map(domain::payment::Mismatch::as_str),
            created_at: lagos_time(top_up.created_at_ms),
            paid_at: top_up.paid_at_ms.map(lagos_time),
            receipt_number: top_up.receipt_number,
        }
    }
}

const COLUMNS: [&str; 8] = [
    "CREATED",
    "TOP-UP",
    "ACCOUNT",
    "STATE",
    "TOTAL",
    "RECEIVED",
    "REASON",
    "REFERENCE",
];

fn row(top_up: &TopUp) -> Result<Row<8>, Failure> {
    let json = TopUpJson::from(top_up);
    let received = top_up.received.as_ref();
    let received = received.map(|received| {
        let currency: String = received
            .currency
            .chars()
            .filter(char::is_ascii_graphic)
            .collect();
        format!("{} {currency}", received.amount)
    });
    let reference = top_up.reference.chars().filter(char::is_ascii_graphic);
    let cells = [
        json.created_at.clone(),
        json.top_up_id.clone(),
        json.user_id.clone().unwrap_or_else(|| "-".to_owned()),
        json.state.to_owned(),
        top_up.total().to_string(),
        received.unwrap_or_else(|| "-".to_owned()),
        json.mismatch.unwrap_or("-").to_owned(),
        reference.collect(),
    ];
    Row::new(&json, cells)
}
