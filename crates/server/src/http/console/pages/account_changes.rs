//! The changes of one account.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account as details;
use super::account_parts::{account, path};
use crate::link_mail::Delivery;
use console::Notice;
use console::figures::naira;
use domain::user::role::Role;
use domain::{AccountStatus, Component, Money, Verification};
use engine::operators::{Credit, OperationError};

/// `POST /operator/accounts/{id}/credit`.
pub(super) async fn credit(visitor: Visitor, fields: Form) -> Answered {
    let (id, wallets) = (account(&visitor)?, visitor.operations().wallets());
    let (amount, component) = match money(&fields, "credit") {
        Ok(given) => given,
        Err(text) => return Ok(visitor.refused(&path(id), text)),
    };
    let reference = fields.get("credit-reference");
    let made = wallets.credit(id, amount, reference, component).await;
    moved(&visitor, made)
}

/// `POST /operator/accounts/{id}/debit`.
pub(super) async fn debit(visitor: Visitor, fields: Form) -> Answered {
    let (id, wallets) = (account(&visitor)?, visitor.operations().wallets());
    let (amount, component) = match money(&fields, "debit") {
        Ok(given) => given,
        Err(text) => return Ok(visitor.refused(&path(id), text)),
    };
    let (reference, reason) = (fields.get("debit-reference"), fields.get("debit-reason"));
    let made = wallets.debit(id, amount, reference, reason, component);
    moved(&visitor, made.await)
}

/// Returns the amount and the component of a form.
fn money(fields: &Form, kind: &str) -> Result<(Money, Component), &'static str> {
    let amount = fields.get(&format!("{kind}-amount")).trim().parse();
    let amount = amount.map_err(|_| "Give the amount in naira, such as 1000.00.")?;
    let component = Component::from_name(fields.get(&format!("{kind}-component")));
    Ok((amount, component.ok_or("Choose a component.")?))
}

fn moved(visitor: &Visitor, made: Result<Credit, OperationError>) -> Answered {
    let path = path(account(visitor)?);
    let text = match &made {
        Ok(credit) if credit.new => format!("The balance is {} now.", naira(credit.balance)),
        _ => "The reference was used before with this amount. Nothing was changed.".to_owned(),
    };
    visitor.after(made, &path, &text)
}

/// `POST /operator/accounts/{id}/status`.
pub(super) async fn set_status(visitor: Visitor, fields: Form) -> Answered {
    let (id, accounts) = (account(&visitor)?, visitor.operations().accounts());
    let Some(status) = AccountStatus::from_name(fields.get("status")) else {
        return Ok(visitor.refused(&path(id), "Choose a status."));
    };
    let changed = accounts.set_status(id, status, None).await;
    let text = format!("The account is {}.", status.as_str());
    visitor.after(changed, &path(id), &text)
}

/// `POST /operator/accounts/{id}/verification`.
pub(super) async fn set_verification(visitor: Visitor, fields: Form) -> Answered {
    let (id, accounts) = (account(&visitor)?, visitor.operations().accounts());
    let Some(verification) = Verification::from_name(fields.get("verification")) else {
        return Ok(visitor.refused(&path(id), "Choose a verification."));
    };
    let changed = accounts.set_verification(id, verification).await;
    visitor.after(changed, &path(id), "The verification was changed.")
}

/// `POST /operator/accounts/{id}/limit`.
pub(super) async fn set_limit(visitor: Visitor, fields: Form) -> Answered {
    let (id, accounts) = (account(&visitor)?, visitor.operations().accounts());
    let given = fields
        .find("limit")
        .map(|text| text.trim().parse::<Money>());
    let per_day = match given.transpose() {
        Ok(per_day) if per_day.is_none_or(Money::is_positive) => per_day,
        _ => {
            let text = "Give the limit in naira, such as 5000.00, or leave it empty.";
            return Ok(visitor.refused(&path(id), text));
        }
    };
    let changed = accounts.set_daily_limit(id, per_day).await;
    visitor.after(changed, &path(id), "The daily limit was changed.")
}

/// `POST /operator/accounts/{id}/invite`. A link that goes by no mail is shown once, on the
/// page that answers.
pub(super) async fn invite(visitor: Visitor, fields: Form) -> Answered {
    let (id, users) = (account(&visitor)?, visitor.operations().users());
    let role = Role::from_name(fields.get("role")).filter(|role| role.is_of_account());
    let Some(role) = role else {
        return Ok(visitor.refused(&path(id), "Choose a role."));
    };
    let email = fields.get("email");
    // An unknown account is told before the invitation is made.
    visitor.operations().accounts().show(id).await?;
    match users.invite(email, Some(id), role).await {
        Ok((_, link)) => {
            let (delivery, address) = visitor.deliver(&link).await;
            let email = &link.email;
            let notice = match &delivery {
                Delivery::Mailed => format!("{email} has a mail now."),
                Delivery::Shown { .. } => format!(
                    "Send this link to {email}. It is good once, for 7 days, and it is shown \
                     once: {address}"
                ),
            };
            let mut screen = details::screen(&visitor, Some(Notice::done(notice))).await?;
            let fault = delivery.fault().map(Notice::refused);
            screen.shell.notices.extend(fault);
            Ok(visitor.answer(&screen))
        }
        Err(error) => {
            let (_, text) = Failure::from(error).shown()?;
            Ok(visitor.refused(&path(id), &text))
        }
    }
}
