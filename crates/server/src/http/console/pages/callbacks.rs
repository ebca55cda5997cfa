//! The callbacks of the account: attempts, dead ones, replay, and the secret that signs them.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::made;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::{confirm, dangerous, request};
use super::shared::pager;
use console::Section;
use console::figures::{counted, time};
use console::parts::{Badge, Cell, Choice, Column, Empty, Field, Kind, Table, Tabs, Tone};
use console::screens::{Form as FormScreen, Listing};
use domain::user::role::Permission::ManageCallbacks;
use engine::operators::{CallbackSecret, OperationError, Replay};
use std::time::Duration;

const PATH: &str = "/console/callbacks";
const DEAD: &str = "/console/callbacks/dead";
const SECRETS: &str = "/console/callbacks/secrets";
const NEW_SECRET: &str = "/console/callbacks/secrets/new";
/// The times in which the previous secret still signs.
const OVERLAPS: [(&str, u64); 4] = [("0", 0), ("1", 1), ("24", 24), ("168", 168)];

/// `GET /console/callbacks`: the attempts.
pub(super) async fn attempts(visitor: Visitor) -> Answered {
    let callbacks = visitor.operations().callbacks();
    let (account, asked) = (visitor.account()?, request(&visitor));
    let page = callbacks.attempts(account, None, &asked).await?;
    let rows = page.items.iter().map(|one| {
        let attempted = &one.attempted;
        let is_taken = attempted.result.starts_with('2');
        let tone = if is_taken { Tone::Good } else { Tone::Bad };
        vec![
            Cell::Code(one.message.to_string()),
            Cell::Code(one.recipient.to_string()),
            Cell::text(one.attempt.to_string()),
            Cell::Status(Badge::new(tone, &attempted.result)),
            Cell::text(format!("{} ms", attempted.took_ms)),
            Cell::text(&attempted.answer),
            Cell::Time(attempted.made_at_ms),
        ]
    });
    let columns = vec![
        Column::text("Message"),
        Column::text("Recipient"),
        Column::number("Attempt"),
        Column::text("Result"),
        Column::number("Duration").wide(),
        Column::text("Answer").wide(),
        Column::number("Time"),
    ];
    let empty = Empty::new(
        "No attempts yet",
        "A send with a callback URL gets the outcome of each recipient there.",
    );
    let mut screen = listing(&visitor, "Attempts", columns, rows.collect(), empty);
    screen.pager = pager(PATH, visitor.query(), &[], &page, "attempt");
    Ok(visitor.answer(&screen))
}

/// `GET /console/callbacks/dead`.
pub(super) async fn dead(visitor: Visitor) -> Answered {
    let callbacks = visitor.operations().callbacks();
    let page = callbacks
        .dead(visitor.account()?, &request(&visitor))
        .await?;
    let may_change = visitor.may(ManageCallbacks);
    let rows = page.items.iter().enumerate().map(|(index, one)| {
        let message = one.message.to_string();
        let outcome = one.event.status();
        let replay = confirm(
            &visitor,
            (&format!("replay-{index}"), "Replay"),
            (
                "Replay the callbacks of this message?",
                "Each is sent again, with a new series of attempts.",
            ),
            "/console/callbacks/replay",
            &[("message", &message)],
        );
        vec![
            Cell::Code(message.clone()),
            Cell::Code(one.recipient.to_string()),
            Cell::text(outcome.unwrap_or_else(|| one.event.kind().as_str())),
            Cell::text(&*one.url),
            Cell::text(one.attempts.to_string()),
            Cell::Changes(may_change.then_some(replay).into_iter().collect()),
        ]
    });
    let columns = vec![
        Column::text("Message"),
        Column::text("Recipient"),
        Column::text("Outcome"),
        Column::text("Address").wide(),
        Column::number("Attempts").wide(),
        Column::number(""),
    ];
    let empty = Empty::new(
        "No dead callbacks",
        "A callback is dead when its address has refused all attempts.",
    );
    let mut screen = listing(&visitor, "Dead", columns, rows.collect(), empty);
    screen.pager = pager(DEAD, visitor.query(), &[], &page, "callback");
    if may_change && !page.items.is_empty() {
        screen.actions = vec![(
            "Replay all".to_owned(),
            "/console/callbacks/replay".to_owned(),
        )];
    }
    Ok(visitor.answer(&screen))
}

/// `GET /console/callbacks/replay`.
pub(super) async fn replay_form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&FormScreen {
        shell: visitor.shell("Replay dead callbacks", Section::Callbacks),
        lead: "Each dead callback of the account is sent again, with a new series of attempts."
            .to_owned(),
        fields: vec![
            Field::text("origin", "Only this receiver")
                .hint("Scheme, host and port, such as https://example.com:443.")
                .optional(),
        ],
        error: None,
        href: "/console/callbacks/replay".to_owned(),
        action: "Replay".to_owned(),
        back: DEAD.to_owned(),
    }))
}

/// `POST /console/callbacks/replay`.
pub(super) async fn replay(visitor: Visitor, fields: Form) -> Answered {
    let message = fields.find("message").map(str::parse).transpose();
    let which = Replay {
        account: Some(visitor.account()?),
        origin: fields.find("origin").map(|text| text.trim().to_owned()),
        message: message.map_err(|_| Failure::NotFound)?,
    };
    let replayed = visitor.operations().callbacks().replay(&which).await?;
    if replayed == 0 {
        return Ok(visitor.refused(DEAD, "There is no such dead callback."));
    }
    let text = format!("{} queued again.", counted(replayed, "callback"));
    Ok(visitor.done(DEAD, &text))
}

/// `GET /console/callbacks/secrets`.
pub(super) async fn secrets(visitor: Visitor) -> Answered {
    Ok(made::answer(&visitor, &secret_list(&visitor).await?))
}

/// `GET /console/callbacks/secrets/new`.
pub(super) async fn secret_form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&new_secret(&visitor, None)))
}

/// `POST /console/callbacks/secrets`. The secret is shown once, on the list.
pub(super) async fn create_secret(visitor: Visitor, fields: Form) -> Answered {
    let account = visitor.account()?;
    let overlap = OVERLAPS
        .iter()
        .find(|(name, _)| *name == fields.get("overlap"));
    let (_, hours) = overlap.ok_or_else(|| Failure::Refused("Choose a time.".to_owned()))?;
    let callbacks = || visitor.operations().callbacks();
    let made = match callbacks().create_secret(account).await {
        Err(OperationError::SecretExists) => {
            let overlap = Duration::from_hours(*hours);
            callbacks().rotate_secret(account, overlap).await
        }
        made => made,
    };
    match made {
        Ok(secret) => {
            let text = secret.signing.secret.text();
            let shown = ("The new secret".to_owned(), text);
            Ok(made::lead(&visitor, SECRETS, &shown))
        }
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            Ok(visitor.answer_with(status, &new_secret(&visitor, Some(text))))
        }
    }
}

/// `POST /console/callbacks/secrets/revoke`.
pub(super) async fn revoke_secret(visitor: Visitor, fields: Form) -> Answered {
    let (callbacks, account) = (visitor.operations().callbacks(), visitor.account()?);
    let secret = fields.find("secret").ok_or(Failure::NotFound)?;
    let revoked = callbacks.revoke_secrets(account, Some(secret)).await;
    if matches!(revoked, Err(OperationError::NoSecret)) {
        return Err(Failure::NotFound);
    }
    visitor.after(revoked, SECRETS, "The secret was revoked.")
}

fn new_secret(visitor: &Visitor, error: Option<String>) -> FormScreen {
    let text = |hours: u64| match hours {
        0 => "At once: the secret has leaked".to_owned(),
        hours => format!("After {}", counted(hours, "hour")),
    };
    let choices = OVERLAPS.map(|(value, hours)| Choice::new(value, text(hours)));
    FormScreen {
        shell: visitor.shell("Create a secret", Section::Callbacks),
        lead: "Your receiver verifies the header webhook-signature with it.".to_owned(),
        fields: vec![
            Field::new(
                Kind::Radio(choices.to_vec()),
                "overlap",
                "The previous secret ends",
            )
            .value("24"),
        ],
        error,
        href: SECRETS.to_owned(),
        action: "Create secret".to_owned(),
        back: SECRETS.to_owned(),
    }
}

async fn secret_list(visitor: &Visitor) -> Result<Listing, Failure> {
    let callbacks = visitor.operations().callbacks();
    let account = Some(visitor.account()?);
    let page = callbacks.list_secrets(account, &request(visitor)).await?;
    let may_change = visitor.may(ManageCallbacks);
    let rows = page.items.iter().map(|one| secret_row(visitor, one));
    let columns = vec![
        Column::text("Secret"),
        Column::text("Signs until"),
        Column::number("Created"),
        Column::number(""),
    ];
    let mut empty = Empty::new(
        "Callbacks are not signed",
        "With a secret, your receiver knows that a callback comes from here.",
    );
    if may_change {
        empty = empty.action("Create a secret", NEW_SECRET);
    }
    let mut screen = listing(visitor, "Secrets", columns, rows.collect(), empty);
    screen.pager = pager(SECRETS, visitor.query(), &[], &page, "secret");
    screen.secret = made::secret_of(visitor, SECRETS);
    if may_change {
        screen.actions = vec![("Create a secret".to_owned(), NEW_SECRET.to_owned())];
    }
    Ok(screen)
}

fn secret_row(visitor: &Visitor, secret: &CallbackSecret) -> Vec<Cell> {
    let id = secret.signing.secret.id();
    let revoke = dangerous(confirm(
        visitor,
        (&format!("revoke-{id}"), "Revoke"),
        (
            "Revoke the secret?",
            "It signs no callback from now on. Without another secret, callbacks are not signed.",
        ),
        "/console/callbacks/secrets/revoke",
        &[("secret", &id)],
    ));
    let may_change = visitor.may(ManageCallbacks);
    let until = secret.signing.ends_at_ms;
    vec![
        Cell::Code(id),
        Cell::text(until.map_or_else(|| "Replaced or revoked".to_owned(), time)),
        Cell::Time(secret.created_at_ms),
        Cell::Changes(may_change.then_some(revoke).into_iter().collect()),
    ]
}

fn listing(
    visitor: &Visitor,
    current: &str,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    empty: Empty,
) -> Listing {
    let table = Table {
        label: current.to_owned(),
        columns,
        rows,
        now_ms: visitor.now_ms(),
    };
    let mut listing = Listing::new(visitor.shell("Callbacks", Section::Callbacks), table, empty);
    let tabs = [("Attempts", PATH), ("Dead", DEAD), ("Secrets", SECRETS)];
    listing.tabs = Some(Tabs::new("Callbacks", current, &tabs));
    listing
}
