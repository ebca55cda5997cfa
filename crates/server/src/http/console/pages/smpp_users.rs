//! The SMPP users of the account.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::made;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::{confirm, dangerous, request};
use super::send_parts::gateway_name;
use super::shared::{pager, ranges};
use console::Section;
use console::figures::{count, counted, date};
use console::parts::{Badge, Cell, Choice, Column, Empty, Field, Kind, Table, Tone};
use console::screens::{Form as FormScreen, Listing};
use domain::Gateway;
use domain::smpp_user::{SmppLimits, SmppUser, SmppUserFields};
use domain::user::role::Permission::ManageTokens;
use engine::operators::OperationError;
use std::collections::HashMap;
use std::net::SocketAddr;

const PATH: &str = "/console/smpp-users";
const NEW: &str = "/console/smpp-users/new";

/// `GET /console/smpp-users`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    Ok(made::answer(&visitor, &listing(&visitor).await?))
}

/// `GET /console/smpp-users/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&new_form(&visitor, &Form::default(), None)))
}

/// `POST /console/smpp-users`. The password is shown once, on the list.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    let given = |name: &str| fields.find(name).map(str::to_owned);
    let allowed = ranges(&fields, "allow").map(str::to_owned);
    // A box that is not ticked is not sent.
    let ticked = |name: &str| Some((fields.get(name) == "yes").to_string());
    let new = SmppUserFields {
        sandbox: ticked("sandbox"),
        binds: given("binds"),
        per_second: given("per_second"),
        window: given("window"),
        allow: Some(allowed.collect()),
        gateway: given("gateway"),
        vendor_statuses: ticked("vendor_statuses"),
        latin_1: ticked("latin_1"),
    };
    let users = visitor.operations().smpp_users();
    match users.request(visitor.account()?, &new).await {
        Ok((user, password)) => {
            let secret = (format!("The password of {}", user.system_id), password);
            Ok(made::lead(&visitor, PATH, &secret))
        }
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            let screen = new_form(&visitor, &fields, Some(text));
            Ok(visitor.answer_with(status, &screen))
        }
    }
}

/// `POST /console/smpp-users/{id}/revoke`. The id is the system id.
pub(super) async fn revoke(visitor: Visitor, _fields: Form) -> Answered {
    let (users, account) = (visitor.operations().smpp_users(), visitor.account()?);
    let revoked = users.revoke_of(account, visitor.param("id")).await;
    if matches!(revoked, Err(OperationError::NoSmppUser(_))) {
        return Err(Failure::NotFound);
    }
    visitor.after(
        revoked,
        PATH,
        "The SMPP user was revoked. It is unbound within a second.",
    )
}

fn new_form(visitor: &Visitor, fields: &Form, error: Option<String>) -> FormScreen {
    let all = limits().into_iter().chain(rules());
    let filled = all.map(|field| {
        let value = fields.get(&field.name).to_owned();
        field.value(value)
    });
    FormScreen {
        shell: visitor.shell("Create an SMPP user", Section::SmppUsers),
        lead: "A program binds with the system id and the password. Both are made for you, and \
               the password is shown once. The operator gives higher limits."
            .to_owned(),
        fields: filled.collect(),
        error,
        href: PATH.to_owned(),
        action: "Create SMPP user".to_owned(),
        back: PATH.to_owned(),
    }
}

/// Returns the fields of the limits.
fn limits() -> [Field; 3] {
    let most = SmppLimits::default();
    let fields = [
        (
            "binds",
            "Connections",
            most.binds,
            "At a time, to each node.",
        ),
        (
            "per_second",
            "Messages a second",
            most.per_second,
            "To each node.",
        ),
        (
            "window",
            "Window",
            most.window,
            "Unanswered requests of a connection.",
        ),
    ];
    fields.map(|(name, label, most, hint)| {
        let hint = format!("{hint} 1 to {most}; without a number it is {most}.");
        let field = Field::new(Kind::Input("number"), name, label);
        field.hint(hint).optional()
    })
}

/// Returns the fields of the addresses, the gateway and the dialect.
fn rules() -> Vec<Field> {
    let gateways = Gateway::ALL.iter();
    let gateways = gateways.map(|&one| Choice::new(one.as_str(), gateway_name(one)));
    let boxes = [
        (
            "sandbox",
            "Simulate its messages",
            "Nothing is delivered or charged.",
        ),
        (
            "vendor_statuses",
            "Detailed refusals",
            "0x0400 for no money, 0x0401 for a text that is not permitted, 0x0402 for an opt-out.",
        ),
        (
            "latin_1",
            "Latin 1",
            "data_coding 0 is Latin 1 in place of GSM 03.38.",
        ),
    ];
    let boxes = boxes.map(|(name, label, hint)| {
        let field = Field::new(Kind::Checkbox, name, label);
        field.hint(hint).optional()
    });
    let mut fields = vec![
        Field::new(Kind::Lines(3), "allow", "Allowed addresses")
            .hint("Addresses or ranges such as 203.0.113.0/24. Without any, all are allowed.")
            .optional(),
        Field::new(Kind::Select(gateways.collect()), "gateway", "Gateway")
            .hint("The gateway of messages without a service_type."),
    ];
    fields.extend(boxes);
    fields
}

async fn listing(visitor: &Visitor) -> Result<Listing, Failure> {
    let users = visitor.operations().smpp_users();
    let found = users
        .list(Some(visitor.account()?), &request(visitor))
        .await?;
    let users = visitor.operations().smpp_users();
    let bound = users.bound(Some(visitor.account()?)).await?;
    let may_change = visitor.may(ManageTokens);
    let rows = found.items.iter();
    let rows = rows.map(|user| row(visitor, user, &bound, may_change));
    let table = Table {
        label: "SMPP users".to_owned(),
        columns: vec![
            Column::text("System id"),
            Column::text("State"),
            Column::number("Connections"),
            Column::text("Limits").wide(),
            Column::text("Allowed addresses").wide(),
            Column::text("Gateway").wide(),
            Column::number("Created").wide(),
            Column::number(""),
        ],
        rows: rows.collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new(
        "No SMPP users yet",
        "A program that speaks SMPP binds with an SMPP user, in place of a token.",
    );
    let shell = visitor.shell("SMPP users", Section::SmppUsers);
    let mut actions = Vec::new();
    if may_change {
        empty = empty.action("Create an SMPP user", NEW);
        actions.push(("Create an SMPP user".to_owned(), NEW.to_owned()));
    }
    Ok(Listing {
        lead: lead(visitor),
        actions,
        pager: pager(PATH, visitor.query(), &[], &found, "SMPP user"),
        secret: made::secret_of(visitor, PATH),
        ..Listing::new(shell, table, empty)
    })
}

/// Returns the sentences on where a program binds, and how.
fn lead(visitor: &Visitor) -> String {
    let origin = visitor.origin();
    let servers = visitor.console.smpp;
    let place = |address: SocketAddr| match address.ip() {
        ip if ip.is_loopback() => format!("{ip}, port {}", address.port()),
        _ => format!("{}, port {}", host(&origin), address.port()),
    };
    let plain = servers.plain.map(place);
    match (servers.secured.map(place), plain) {
        (None, None) => {
            "The operator has not switched on SMPP here, so no program can bind yet.".to_owned()
        }
        (Some(secured), None) => format!("Bind to {secured}, with TLS. {BINDS}"),
        (None, Some(plain)) => format!("Bind to {plain}, without TLS. {UNSECURED} {BINDS}"),
        (Some(secured), Some(plain)) => {
            format!("Bind to {secured}, with TLS, or to {plain}, without. {UNSECURED} {BINDS}")
        }
    }
}

const BINDS: &str =
    "All kinds of bind of SMPP 3.4 are taken. The messages are those of the account.";
const UNSECURED: &str = "Without TLS the password goes over the network as it is.";

/// Returns the host of an origin.
fn host(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn row(
    visitor: &Visitor,
    user: &SmppUser,
    bound: &HashMap<String, i64>,
    may_change: bool,
) -> Vec<Cell> {
    let id = &user.system_id;
    let now = bound.get(id).copied().unwrap_or_default();
    let state = match user.revoked_at_ms {
        Some(_) => Badge::new(Tone::Bad, "Revoked"),
        None if now > 0 => Badge::new(Tone::Good, "Bound"),
        None => Badge::new(Tone::Plain, "Not bound"),
    };
    let revoke = dangerous(confirm(
        visitor,
        (&format!("revoke-{id}"), "Revoke"),
        (
            &format!("Revoke the SMPP user {id}?"),
            "Its connections are unbound within a second. It cannot be made valid again.",
        ),
        &format!("{PATH}/{id}/revoke"),
        &[],
    ));
    let is_open = may_change && user.revoked_at_ms.is_none();
    let allowed = user.allowed.to_string().replace(',', ", ");
    let SmppLimits {
        binds,
        per_second,
        window,
    } = user.limits;
    let binds = counted(u64::from(binds), "connection");
    let limits = format!("{binds}, {per_second} a second, window {window}");
    vec![
        Cell::Code(id.clone()),
        Cell::Status(state),
        Cell::text(count(now.unsigned_abs())),
        Cell::text(limits),
        Cell::text(if allowed.is_empty() { "All" } else { &allowed }),
        Cell::text(match (user.sandbox, user.gateway) {
            (true, _) => "Sandbox",
            (false, Some(gateway)) => gateway.as_str(),
            (false, None) => Gateway::DirectRefund.as_str(),
        }),
        Cell::text(date(user.created_at_ms)),
        Cell::Changes(is_open.then_some(revoke).into_iter().collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_no_scheme_and_no_port() {
        for (origin, expected) in [
            ("https://sms.example.ng", "sms.example.ng"),
            ("http://localhost:8080", "localhost"),
            ("http://[::1]:8080", "[::1]"),
            ("http://[::1]", "[::1]"),
        ] {
            assert_eq!(host(origin), expected, "{origin}");
        }
    }
}
