//! Parts that the pages of sub-accounts share.

use super::super::failure::Failure;
use super::super::visitor::Visitor;
use super::shared::queries;
use domain::user::role::Permission::ManageMoney;
use domain::{AccountId, Environment};
use engine::operators::SubAccounts;
use engine::{CustomerQueries, SubAccount};

/// The address of the list of sub-accounts.
pub(super) const PATH: &str = "/console/sub-accounts";
/// The reason why the sandbox changes no sub-account.
pub(super) const LIVE_ONLY: &str =
    "Sub-accounts are changed in the live environment. Switch from Sandbox to Live first.";

/// Returns the address of the page of a sub-account.
pub(super) fn path(id: AccountId) -> String {
    format!("{PATH}/{id}")
}

/// Returns the operations on sub-accounts, with the prices of the configuration.
pub(super) fn accounts(visitor: &Visitor) -> SubAccounts {
    let rules = visitor.engine().installation().rules().clone();
    visitor.operations().sub_accounts(rules)
}

/// Returns the account of the visitor. A sub-account has no sub-accounts, and so no such pages.
pub(super) fn parent(visitor: &Visitor) -> Result<AccountId, Failure> {
    match visitor.visit.parent {
        Some(_) => Err(Failure::NotFound),
        None => visitor.account(),
    }
}

/// Returns `true` if the visitor may change sub-accounts here. The sandbox shows them only.
pub(super) fn may_change(visitor: &Visitor) -> bool {
    visitor.may(ManageMoney) && visitor.environment() == Environment::Live
}

/// Returns the id of the sub-account in the path.
pub(super) fn id(visitor: &Visitor) -> Result<AccountId, Failure> {
    visitor.param("id").parse().map_err(|_| Failure::NotFound)
}

/// Returns the sub-account in the path. It is one of the visitor's account.
pub(super) async fn sub_account(visitor: &Visitor) -> Result<SubAccount, Failure> {
    let (parent, id) = (parent(visitor)?, id(visitor)?);
    Ok(accounts(visitor).show(parent, id).await?)
}

/// Returns the queries of a sub-account of the visitor's account.
pub(super) async fn queries_of(
    visitor: &Visitor,
    sub: &SubAccount,
) -> Result<CustomerQueries, Failure> {
    let id = sub.account.id.to_string();
    Ok(queries(visitor)?.of_sub_account(Some(&id)).await?)
}
