//! The customer of the demo.

use super::super::answer::Failure;
use super::first_message::{KEYWORD, NUMBER, SENDER_ID};
use domain::search::MAX_LIMIT;
use domain::token::TokenTerms;
use domain::user::role::Role;
use domain::{AccountId, Component, Money, SenderStatus};
use engine::operators::{LinkText, Operations, PageRequest, RouteFields};

const EMAIL: &str = "demo@ogene.example";
const OPERATOR_EMAIL: &str = "operator@ogene.example";
/// The credit, once for a database.
const CREDIT: Money = Money::from_naira(10_000);
/// The sender ID of the one-time passwords of the history, and that of its orders.
pub(super) const OTP_SENDER_ID: &str = "PayQuick";
pub(super) const ORDER_SENDER_ID: &str = "ShopLagos";
/// The approved sender IDs. The one of the demo is the first by name, since pages begin with it.
const APPROVED: [(&str, &str); 3] = [
    (SENDER_ID, "The demo"),
    (OTP_SENDER_ID, "One-time passwords of the PayQuick app"),
    (ORDER_SENDER_ID, "Orders and offers of the shop"),
];
/// The sender ID that waits for the operator's approval.
const WAITING: (&str, &str) = ("ShopLagos-1", "Offers of the second shop");

/// The account, and a token of its own for this start.
pub(super) struct Customer {
    pub(super) account: AccountId,
    pub(super) token: String,
}

/// Makes the account with credit, sender IDs, a number for inbound messages and a token.
pub(super) async fn make(operations: &Operations) -> Result<Customer, Failure> {
    let account = operations.accounts().create("Demo", EMAIL).await?.id;
    for (name, purpose) in APPROVED.into_iter().chain([WAITING]) {
        let senders = operations.senders();
        senders.register(account, name, purpose, false).await?;
    }
    for (name, _) in APPROVED {
        let (senders, approved) = (operations.senders(), SenderStatus::Approved);
        senders.set_status(account, name, approved, None).await?;
    }
    for keyword in [None, Some(KEYWORD)] {
        let route = RouteFields {
            number: NUMBER.to_owned(),
            keyword: keyword.map(str::to_owned),
            url: None,
            smpp_user: None,
            allow_private: false,
        };
        operations.inbound().add_route(account, &route).await?;
    }
    known(operations, account).await
}

/// Gives credit and a new token to the account.
pub(super) async fn known(
    operations: &Operations,
    account: AccountId,
) -> Result<Customer, Failure> {
    let (wallets, component) = (operations.wallets(), Component::SmsWallet);
    wallets.credit(account, CREDIT, "demo", component).await?;
    let terms = TokenTerms::default();
    let (_, token) = operations.tokens().create(account, "demo", terms).await?;
    Ok(Customer { account, token })
}

/// Returns one-time links that are signed in to the console: as the customer, and as an operator.
pub(super) async fn links(
    operations: &Operations,
    account: AccountId,
) -> Result<[LinkText; 2], Failure> {
    let users = operations.users();
    let customer = users.demo_link(EMAIL, Some(account), Role::Owner).await?;
    let users = operations.users();
    let operator = users
        .demo_link(OPERATOR_EMAIL, None, Role::Operator)
        .await?;
    Ok([customer, operator])
}

/// Returns the account that an earlier demo made.
pub(super) async fn find(operations: &Operations) -> Result<Option<AccountId>, Failure> {
    let mut request = PageRequest::default();
    loop {
        let page = operations.accounts().list(&request).await?;
        let mut accounts = page.items.iter();
        let account = accounts.find(|account| account.email == EMAIL);
        if account.is_some() || page.next.is_none() {
            return Ok(account.map(|account| account.id));
        }
        request = PageRequest::new(MAX_LIMIT, page.next);
    }
}
