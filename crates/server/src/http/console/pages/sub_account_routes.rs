//! The routes of the pages of sub-accounts.

use super::super::page::{Page, get, post};
use super::{sub_account, sub_account_changes, sub_account_messages, sub_accounts};
use domain::user::role::Permission::{ManageMoney, ViewAccount};

/// Returns the routes of sub-accounts. Each shows those of its visitor's account alone.
pub(super) fn all() -> Vec<Page> {
    vec![
        get("/console/sub-accounts", ViewAccount, sub_accounts::page),
        get("/console/sub-accounts/new", ManageMoney, sub_accounts::form),
        post("/console/sub-accounts", ManageMoney, sub_accounts::create),
        get("/console/sub-accounts/{id}", ViewAccount, sub_account::page),
        post(
            "/console/sub-accounts/{id}/status",
            ManageMoney,
            sub_account_changes::set_status,
        ),
        post(
            "/console/sub-accounts/{id}/limit",
            ManageMoney,
            sub_account_changes::set_limit,
        ),
        post(
            "/console/sub-accounts/{id}/price",
            ManageMoney,
            sub_account_changes::set_price,
        ),
        post(
            "/console/sub-accounts/{id}/transfer",
            ManageMoney,
            sub_account_changes::transfer,
        ),
        get(
            "/console/sub-accounts/{id}/messages",
            ViewAccount,
            sub_account_messages::list,
        ),
        get(
            "/console/sub-accounts/{id}/messages.csv",
            ViewAccount,
            sub_account_messages::export,
        ),
        get(
            "/console/sub-accounts/{id}/messages/{message}",
            ViewAccount,
            sub_account_messages::message,
        ),
        get(
            "/console/sub-accounts/{id}/messages/{message}/{recipient}",
            ViewAccount,
            sub_account_messages::one,
        ),
    ]
}
