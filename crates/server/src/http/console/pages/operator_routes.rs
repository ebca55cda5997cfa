//! The table of the routes of operators.

use super::super::page::{Page, get, post};
use super::{
    account, account_changes, accounts, all_messages, all_top_ups, approvals, attention, audit,
    carrier_changes, carriers, content, first_steps, operations, paused_blocks, payment_settings,
    revenue, team, trace, verify,
};
use domain::user::role::Permission::Operate;

/// Returns the routes of operators.
pub(super) fn all() -> Vec<Page> {
    let mut all = operator();
    all.extend(customers());
    all.extend(traffic());
    all.extend(money());
    all.extend(books());
    all
}

/// The pages of operators.
fn operator() -> Vec<Page> {
    vec![
        get("/operator", Operate, operations::to_page),
        get("/operator/", Operate, operations::page),
        get("/operator/first-steps", Operate, first_steps::page),
        post("/operator/first-steps", Operate, first_steps::create),
        get("/operator/carriers", Operate, carriers::list),
        get("/operator/carriers/{name}", Operate, carriers::page),
        post(
            "/operator/carriers/{name}/pause",
            Operate,
            carrier_changes::pause,
        ),
        post(
            "/operator/carriers/{name}/drain",
            Operate,
            carrier_changes::drain,
        ),
        post(
            "/operator/carriers/{name}/resume",
            Operate,
            carrier_changes::resume,
        ),
        post(
            "/operator/carriers/{name}/throttle",
            Operate,
            carrier_changes::throttle,
        ),
        get("/operator/trace", Operate, trace::form),
        post("/operator/trace", Operate, trace::trace),
        get("/operator/doubts", Operate, attention::doubts),
        get("/operator/callbacks", Operate, attention::dead),
        post("/operator/callbacks/replay", Operate, attention::replay),
        get("/operator/paused-blocks", Operate, paused_blocks::list),
        post(
            "/operator/paused-blocks/release",
            Operate,
            paused_blocks::release,
        ),
        get("/operator/team", Operate, team::page),
        post("/operator/team/invite", Operate, team::invite),
        post("/operator/team/{user}/role", Operate, team::set_role),
        post("/operator/team/{user}/remove", Operate, team::remove),
        post("/operator/team/{user}/withdraw", Operate, team::withdraw),
    ]
}

/// Accounts, their sender IDs and the rules of their texts, for operators.
fn customers() -> Vec<Page> {
    vec![
        get("/operator/accounts", Operate, accounts::list),
        get("/operator/accounts/new", Operate, accounts::form),
        post("/operator/accounts", Operate, accounts::create),
        get("/operator/accounts/{id}", Operate, account::page),
        post(
            "/operator/accounts/{id}/credit",
            Operate,
            account_changes::credit,
        ),
        post(
            "/operator/accounts/{id}/debit",
            Operate,
            account_changes::debit,
        ),
        post(
            "/operator/accounts/{id}/status",
            Operate,
            account_changes::set_status,
        ),
        post(
            "/operator/accounts/{id}/verification",
            Operate,
            account_changes::set_verification,
        ),
        post(
            "/operator/accounts/{id}/limit",
            Operate,
            account_changes::set_limit,
        ),
        post(
            "/operator/accounts/{id}/invite",
            Operate,
            account_changes::invite,
        ),
        get("/operator/sender-ids", Operate, approvals::queue),
        get("/operator/sender-ids/all", Operate, approvals::all),
        get("/operator/sender-ids/one", Operate, approvals::details),
        post(
            "/operator/sender-ids/status",
            Operate,
            approvals::set_status,
        ),
        post("/operator/sender-ids/reject", Operate, approvals::reject),
        get("/operator/content", Operate, content::page),
        get("/operator/content/new", Operate, content::form),
        post("/operator/content", Operate, content::add),
        post("/operator/content/remove", Operate, content::remove),
        get("/operator/content/test", Operate, content::test_form),
        post("/operator/content/test", Operate, content::test),
    ]
}

/// The messages of all accounts, for operators.
fn traffic() -> Vec<Page> {
    vec![
        get("/operator/messages", Operate, all_messages::list),
        get("/operator/messages/{id}", Operate, all_messages::message),
        get(
            "/operator/messages/{id}/{recipient}",
            Operate,
            all_messages::one,
        ),
    ]
}

/// The payments of all accounts, and the revenue, for operators.
fn money() -> Vec<Page> {
    vec![
        get("/operator/top-ups", Operate, all_top_ups::list),
        get(
            "/operator/top-ups/settings",
            Operate,
            payment_settings::page,
        ),
        get("/operator/top-ups/{id}", Operate, all_top_ups::page),
        post(
            "/operator/top-ups/{id}/accept",
            Operate,
            all_top_ups::accept,
        ),
        post(
            "/operator/top-ups/{id}/reject",
            Operate,
            all_top_ups::reject,
        ),
        get("/operator/revenue", Operate, revenue::page),
        post("/operator/revenue", Operate, revenue::run),
        get("/operator/revenue.csv", Operate, revenue::export),
    ]
}

/// The audit log and the check of the books, for operators.
fn books() -> Vec<Page> {
    vec![
        get("/operator/audit", Operate, audit::page),
        get("/operator/verify", Operate, verify::page),
        get("/operator/verify/new", Operate, verify::form),
        post("/operator/verify", Operate, verify::run),
    ]
}
