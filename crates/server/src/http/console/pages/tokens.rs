//! The API tokens of the account.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::made;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::{confirm, dangerous, request};
use super::shared::{pager, ranges};
use crate::format::parse_lagos_time;
use axum::http::StatusCode;
use console::Section;
use console::figures::{count, date};
use console::parts::{Badge, Cell, Column, Empty, Field, Kind, Table, Tone};
use console::screens::{Form as FormScreen, Listing};
use domain::client_address::{AddressRange, AllowList, NotRange};
use domain::token::{MAX_PER_MINUTE, Scope, Scopes, TokenTerms};
use domain::user::role::Permission::ManageTokens;
use engine::operators::{OperationError, TokenInfo};
use std::collections::HashMap;

const PATH: &str = "/console/tokens";
const NEW: &str = "/console/tokens/new";

/// `GET /console/tokens`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    Ok(made::answer(&visitor, &listing(&visitor).await?))
}

/// `GET /console/tokens/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    // A token has all scopes unless the user takes some away.
    let all = Scope::ALL.iter().map(|scope| (box_of(*scope), "yes"));
    let fields = Form::of_pairs(all);
    Ok(visitor.answer(&new_form(&visitor, &fields, None, None)))
}

/// `POST /console/tokens`. The text of the token is shown once, on the list.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    let terms = match terms(&fields) {
        Ok(terms) => terms,
        Err(faults) => {
            let screen = new_form(&visitor, &fields, None, Some(faults));
            return Ok(visitor.answer_with(StatusCode::UNPROCESSABLE_ENTITY, &screen));
        }
    };
    let (tokens, account) = (visitor.operations().tokens(), visitor.account()?);
    match tokens.request(account, fields.get("name"), terms).await {
        Ok((info, text)) => {
            let secret = (format!("The token “{}”", info.name), text);
            Ok(made::lead(&visitor, PATH, &secret))
        }
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            let screen = new_form(&visitor, &fields, Some(text), None);
            Ok(visitor.answer_with(status, &screen))
        }
    }
}

/// `POST /console/tokens/{id}/revoke`.
pub(super) async fn revoke(visitor: Visitor, _fields: Form) -> Answered {
    let (tokens, account) = (visitor.operations().tokens(), visitor.account()?);
    let revoked = tokens.revoke_of(account, visitor.param("id")).await;
    if matches!(revoked, Err(OperationError::NoToken(_))) {
        return Err(Failure::NotFound);
    }
    visitor.after(revoked, PATH, "The token was revoked.")
}

/// The last uses of tokens, by their ids.
type Uses = HashMap<String, i64>;

/// The faults of the fields of a new token.
#[derive(Default)]
struct Faults {
    expires: Option<String>,
    allowed: Option<String>,
    scopes: Option<String>,
    per_minute: Option<String>,
}

fn terms(fields: &Form) -> Result<TokenTerms, Faults> {
    let mut faults = Faults::default();
    let expires_at_ms = fields.find("expires").and_then(|text| {
        let at_ms = parse_lagos_time(text);
        if at_ms.is_none() {
            faults.expires = Some("Give a day such as 2027-01-31.".to_owned());
        }
        at_ms
    });
    let read = ranges(fields, "allowed").map(str::parse);
    let read: Result<Vec<AddressRange>, NotRange> = read.collect();
    let allowed = read.unwrap_or_else(|fault| {
        faults.allowed = Some(format!("{fault}."));
        Vec::new()
    });
    let ticked = Scope::ALL.iter().copied();
    let ticked = ticked.filter(|scope| fields.get(box_of(*scope)) == "yes");
    let ticked: Vec<Scope> = ticked.collect();
    if ticked.is_empty() {
        faults.scopes = Some("Choose at least one scope.".to_owned());
    }
    let per_minute = fields.find("per_minute").and_then(|text| {
        let limit = text.trim().parse().ok();
        let limit = limit.filter(|limit| (1..=MAX_PER_MINUTE).contains(limit));
        if limit.is_none() {
            faults.per_minute = Some(format!("Give a number from 1 to {MAX_PER_MINUTE}."));
        }
        limit
    });
    match faults {
        Faults {
            expires: None,
            allowed: None,
            scopes: None,
            per_minute: None,
        } => Ok(TokenTerms {
            expires_at_ms,
            allowed: AllowList(allowed),
            scopes: Scopes::of(&ticked),
            per_minute,
        }),
        faults => Err(faults),
    }
}

fn new_form(
    visitor: &Visitor,
    fields: &Form,
    error: Option<String>,
    faults: Option<Faults>,
) -> FormScreen {
    let Faults {
        expires,
        allowed,
        scopes,
        per_minute,
    } = faults.unwrap_or_default();
    let name = Field::text("name", "Name")
        .hint("The program that uses it.")
        .value(fields.get("name"))
        .autocomplete("off");
    let mut all = vec![name];
    all.extend(scope_fields(fields, scopes));
    all.extend(limit_fields(fields, (expires, allowed, per_minute)));
    FormScreen {
        shell: visitor.shell("Create a token", Section::Tokens),
        lead: "A program sends the token with each request. The token is shown once.".to_owned(),
        fields: all,
        error,
        href: PATH.to_owned(),
        action: "Create token".to_owned(),
        back: PATH.to_owned(),
    }
}

/// Returns the name of the box of a scope.
const fn box_of(scope: Scope) -> &'static str {
    match scope {
        Scope::Send => "scope_send",
        Scope::Read => "scope_read",
        Scope::Wallet => "scope_wallet",
        Scope::Manage => "scope_manage",
    }
}

/// Returns the boxes of the scopes. The fault stands at the first.
fn scope_fields(fields: &Form, mut fault: Option<String>) -> Vec<Field> {
    let boxes = Scope::ALL.iter().map(|&scope| {
        let permits = match scope {
            Scope::Send => {
                "Sends, quotes and one-time passwords; cancel, pause, resume and reschedule."
            }
            Scope::Read => "Every read: messages, reports, balance, usage and exports.",
            Scope::Wallet => "Top-ups, alerts and transfers.",
            Scope::Manage => {
                "Sender IDs, tokens, callbacks, inbound routes, opt-outs, SMPP users and \
                 sub-accounts."
            }
        };
        let label = format!("Scope {}", scope.as_str());
        Field::new(Kind::Checkbox, box_of(scope), &label)
            .hint(permits)
            .optional()
            .value(fields.get(box_of(scope)))
            .error(fault.take())
    });
    boxes.collect()
}

type LimitFaults = (Option<String>, Option<String>, Option<String>);

/// Returns the fields of the limits of a token.
fn limit_fields(fields: &Form, (expires, allowed, per_minute): LimitFaults) -> [Field; 3] {
    [
        Field::new(Kind::Input("date"), "expires", "Expires")
            .hint("The token is refused from this day on. Without a day it never expires.")
            .optional()
            .value(fields.get("expires"))
            .error(expires),
        Field::new(Kind::Lines(3), "allowed", "Allowed addresses")
            .hint("Addresses or ranges such as 203.0.113.0/24. Without any, all are allowed.")
            .optional()
            .value(fields.get("allowed"))
            .error(allowed),
        Field::new(Kind::Input("number"), "per_minute", "Requests a minute")
            .hint("A limit of this token alone. Without it, the limits of the account count.")
            .optional()
            .value(fields.get("per_minute"))
            .error(per_minute),
    ]
}

async fn listing(visitor: &Visitor) -> Result<Listing, Failure> {
    let tokens = visitor.operations().tokens();
    let page = tokens
        .list(Some(visitor.account()?), &request(visitor))
        .await?;
    let tokens = visitor.operations().tokens();
    let uses = tokens.uses(visitor.account()?).await?;
    let may_change = visitor.may(ManageTokens);
    let rows = page
        .items
        .iter()
        .map(|token| row(visitor, token, &uses, may_change));
    let table = Table {
        label: "API tokens".to_owned(),
        columns: columns().into_iter().chain([Column::number("")]).collect(),
        rows: rows.collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new("No tokens yet", "A program sends messages with a token.");
    let mut listing = Listing::new(
        visitor.shell("API tokens", Section::Tokens),
        table,
        empty.clone(),
    );
    if may_change {
        let create = ("Create a token".to_owned(), NEW.to_owned());
        empty = empty.action(create.0.clone(), create.1.clone());
        listing.actions = vec![create];
    }
    listing.empty = empty;
    listing.pager = pager(PATH, visitor.query(), &[], &page, "token");
    listing.secret = made::secret_of(visitor, PATH);
    Ok(listing)
}

/// Returns the state of a token.
pub(super) fn state(token: &TokenInfo, now_ms: i64) -> Badge {
    let ends = token.terms.expires_at_ms;
    if token.revoked_at_ms.is_some() {
        Badge::new(Tone::Bad, "Revoked")
    } else if ends.is_some_and(|ends| ends <= now_ms) {
        Badge::new(Tone::Warning, "Expired")
    } else {
        Badge::new(Tone::Good, "Valid")
    }
}

/// Returns the scopes of a token, or `All`.
fn scopes(token: &TokenInfo) -> String {
    match token.terms.scopes {
        Scopes::ALL => "All".to_owned(),
        scopes => scopes.to_string().replace(',', ", "),
    }
}

/// Returns the columns of [`cells`].
pub(super) fn columns() -> Vec<Column> {
    vec![
        Column::text("Name"),
        Column::text("State"),
        Column::text("Scopes").wide(),
        Column::text("Expires").wide(),
        Column::text("Allowed addresses").wide(),
        Column::number("A minute").wide(),
        Column::number("Last used"),
        Column::number("Created").wide(),
    ]
}

/// Returns the name, state and limits of a token, its last use and its age.
pub(super) fn cells(token: &TokenInfo, uses: &Uses, now_ms: i64) -> Vec<Cell> {
    let (expires, per_minute) = (token.terms.expires_at_ms, token.terms.per_minute);
    let last = uses.get(&token.id);
    let allowed = token.terms.allowed.to_string().replace(',', ", ");
    vec![
        Cell::text(&token.name),
        Cell::Status(state(token, now_ms)),
        Cell::text(scopes(token)),
        Cell::text(expires.map_or_else(|| "Never".to_owned(), date)),
        Cell::text(if allowed.is_empty() { "All" } else { &allowed }),
        Cell::text(
            per_minute.map_or_else(|| "No limit".to_owned(), |limit| count(u64::from(limit))),
        ),
        last.map_or_else(|| Cell::text("Never"), |at_ms| Cell::Time(*at_ms)),
        Cell::Time(token.created_at_ms),
    ]
}

fn row(visitor: &Visitor, token: &TokenInfo, uses: &Uses, may_change: bool) -> Vec<Cell> {
    let mut cells = cells(token, uses, visitor.now_ms());
    let revoke = dangerous(confirm(
        visitor,
        (&format!("revoke-{}", token.id), "Revoke"),
        (
            &format!("Revoke the token “{}”?", token.name),
            "Requests with it are refused within a second. It cannot be made valid again.",
        ),
        &format!("{PATH}/{}/revoke", token.id),
        &[],
    ));
    let is_open = may_change && token.revoked_at_ms.is_none();
    cells.push(Cell::Changes(
        is_open.then_some(revoke).into_iter().collect(),
    ));
    cells
}
