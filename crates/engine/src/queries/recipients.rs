//! Pages of the recipients of a message, and single recipients with their events.

use super::events::{self, Event};
use super::messages;
use super::scope::{Listed, Scope};
use crate::error::Error;
use domain::search::{List, Page, StatusFilter};
use domain::{
    AccountId, Alphabet, Environment, MessageId, Money, OTHER_NETWORK, PENDING, Recipient, Refusal,
    Text, parse_international, parse_national, parse_sandbox, recipient_charge,
};
use store::{MessageInfo, MessageTotals, RecipientInfo};

/// Maximum number of recipients that a filter examines for a page. At this number the page ends
/// early, and its cursor continues the search.
const MAX_EXAMINED: usize = 10_000;
/// Number of recipients that are read from the database at a time.
const EXAMINED_BATCH_SIZE: usize = 1_000;

/// A recipient of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipientState {
    /// The number.
    pub recipient: Recipient,
    /// The network that the prefix belongs to.
    pub network: String,
    /// The status as named in the API.
    pub delivery_status: &'static str,
    /// The error code of the carrier or of this server.
    pub error_code: Option<String>,
    /// The pages of the text.
    pub pages: i64,
    /// The charge. Before the answer of a carrier, it is an estimate.
    pub cost: Money,
    /// The refunds.
    pub refunded: Money,
    /// The time of the carrier's answer, Unix milliseconds.
    pub submitted_at_ms: Option<i64>,
    /// The time of the last change, Unix milliseconds.
    pub updated_at_ms: i64,
}

/// A recipient with its events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Timeline {
    /// The recipient.
    pub recipient: RecipientState,
    /// The events, oldest first.
    pub events: Vec<Event>,
}

/// The data of a message that its recipients need.
struct Parent {
    id: MessageId,
    account: AccountId,
    info: MessageInfo,
    /// The average charge of a recipient without a delivery.
    average: Money,
    unicode: bool,
}

impl Parent {
    fn new(info: MessageInfo, totals: &MessageTotals) -> Self {
        let waiting = info.recipients.saturating_sub(totals.deliveries).max(1);
        let waiting = i64::try_from(waiting).unwrap_or(i64::MAX);
        let left = info.cost - totals.charged;
        Self {
            id: info.id,
            account: info.account,
            average: Money::from_units(left.units() / waiting),
            unicode: Text::from_stored(info.body.clone()).alphabet() == Alphabet::Ucs2,
            info,
        }
    }
}

/// Returns a page of the recipients of a message.
pub(crate) async fn list(
    scope: &Scope<'_>,
    id: &str,
    status: Option<StatusFilter>,
    page: (Option<&str>, Option<&str>),
) -> Result<Listed<RecipientState>, Error> {
    let (info, totals) = messages::stored(scope, id).await?;
    let of_cursor = scope.of_cursor(Some(info.id));
    let page = Page::read(page.0, page.1, List::Recipients, &of_cursor)?;
    let parent = Parent::new(info, &totals);
    let limit = page.limit as usize;
    let mut next = page.after.map_or(0, |after| {
        usize::try_from(after.place)
            .unwrap_or(usize::MAX)
            .saturating_add(1)
    });
    let (mut items, mut examined) = (Vec::new(), 0);
    let ends_at =
        loop {
            let chunk = match status {
                Some(_) => EXAMINED_BATCH_SIZE,
                None => limit + 1 - items.len(),
            };
            let until = next.saturating_add(chunk);
            let found = scope
                .store
                .recipients()
                .list(parent.account, parent.id, next, until);
            let found = found.await?.ok_or(Refusal::UnknownMessage)?;
            let (count, last) = (found.len(), found.last().map(|last| last.place));
            examined += count;
            next = until;
            let found = found
                .into_iter()
                .map(|one| (one.place, described(scope, &parent, one)));
            items.extend(found.filter(|(_, one)| {
                status.is_none_or(|status| status.as_str() == one.delivery_status)
            }));
            if items.len() > limit {
                items.truncate(limit);
                break items.last().map(|(place, _)| *place);
            }
            if count < chunk {
                break None;
            }
            if examined >= MAX_EXAMINED {
                break last;
            }
        };
    let next_cursor = ends_at.map(|place| scope.after_recipient(parent.id, place));
    let items = items.into_iter().map(|(_, item)| item).collect();
    Ok(Listed { items, next_cursor })
}

/// Returns one recipient of a message with its events.
pub(crate) async fn one(scope: &Scope<'_>, id: &str, number: &str) -> Result<Timeline, Error> {
    let (info, totals) = messages::stored(scope, id).await?;
    let parent = Parent::new(info, &totals);
    let parse = match scope.environment {
        Environment::Live => |text: &str| parse_international(text).or(parse_national(text)),
        Environment::Sandbox => parse_sandbox,
    };
    let recipient = parse(number.trim()).ok_or(Refusal::UnknownMessage)?;
    let (account, message) = (parent.account, parent.id);
    let found = scope
        .store
        .recipients()
        .find(account, message, recipient)
        .await?;
    let found = found.ok_or(Refusal::UnknownMessage)?;
    let refunds = scope
        .store
        .recipients()
        .refunds(account, message, recipient)
        .await?;
    let attempts = scope
        .store
        .attempts()
        .of_recipient(account, message, recipient)
        .await?;
    Ok(Timeline {
        events: events::of(&parent.info, found.delivery.as_ref(), &refunds, &attempts),
        recipient: described(scope, &parent, found),
    })
}

fn described(scope: &Scope<'_>, parent: &Parent, found: RecipientInfo) -> RecipientState {
    let RecipientInfo {
        recipient,
        delivery,
        refunded,
        ..
    } = found;
    let network = scope.plan.network_of(recipient);
    let network = network.and_then(|at| scope.plan.networks().get(usize::from(at)));
    let network = network.map_or(OTHER_NETWORK, String::as_str).to_owned();
    let accepted_at_ms = parent.id.accepted_at_ms();
    let Some(delivery) = delivery else {
        return RecipientState {
            recipient,
            network,
            delivery_status: PENDING,
            error_code: None,
            pages: parent.info.page_count,
            cost: expected_charge(scope, parent, recipient),
            refunded,
            submitted_at_ms: None,
            updated_at_ms: accepted_at_ms,
        };
    };
    RecipientState {
        recipient,
        network,
        delivery_status: delivery.status.outside(),
        error_code: delivery.error,
        pages: delivery.pages,
        cost: delivery.charge,
        refunded,
        submitted_at_ms: delivery
            .leg
            .map(|_| delivery.submitted_at_ms.max(accepted_at_ms)),
        updated_at_ms: delivery
            .settled_at_ms
            .unwrap_or(delivery.submitted_at_ms)
            .max(accepted_at_ms),
    }
}

/// Returns the expected charge of a recipient without a delivery. The exact charge is stored only
/// in the batch, which is not read here.
fn expected_charge(scope: &Scope<'_>, parent: &Parent, recipient: Recipient) -> Money {
    let info = &parent.info;
    let of_rules = scope.rules.and_then(|rules| {
        recipient_charge(
            rules,
            info.gateway,
            info.account,
            recipient,
            parent.unicode,
            info.page_count,
        )
    });
    if info.recipients == 1 {
        info.cost
    } else {
        of_rules.unwrap_or(parent.average)
    }
}
