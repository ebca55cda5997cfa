//! Inbound messages: kept pages are joined, decoded and given to the account of their route.

use crate::context::Context;
use crate::dispatch::smpp_mapping;
use crate::settle::commit::{commit_alone, empty_report, leave_out_raw};
use database::Outage;
use domain::inbound::{self, Command, InboundMessage, InboundRoute, JoinedPages};
use domain::{AccountId, Bucket, Environment, MessageId, parse_international, sender};
use smpp::{Address, DeliverSm};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store::{
    Callback, CarrierReport, IdRange, Kept, PageGroup, Receipt, SearchScope, SubscriberCommand,
};

/// Period of the search for pages that have waited for long enough, or that another node left.
const ROUTE_INTERVAL: Duration = Duration::from_secs(2);
/// Messages that one step joins at most.
const ROUTE_BATCH_SIZE: u32 = 100;
/// Age of the oldest message that an inbound one may reply to.
const REPLY_MS: i64 = 72 * 3_600_000;
/// Messages that the search for the last one reads at a time, and at most.
const REPLY_BATCH_SIZE: usize = 200;
const MAX_REPLY_BATCHES: usize = 10;

/// Joins and routes until the engine ends.
pub(crate) async fn run(context: Arc<Context>) {
    let outage = Outage::of("inbound messages cannot be routed");
    loop {
        let is_hinted = tokio::select! {
            () = context.inbound.notified() => true,
            () = tokio::time::sleep(ROUTE_INTERVAL) => false,
        };
        // Each node routes after the pages that it kept. One node does so for the pages that are
        // left, or they would be joined by all nodes and kept by one.
        if is_hinted || context.nodes.is_mine(Bucket(0)) {
            outage.note(route_all(&context).await);
        }
    }
}

async fn route_all(context: &Arc<Context>) -> database::Result<()> {
    loop {
        let now_ms = context.clock.now_ms();
        let before_ms = now_ms - context.live().inbound.join_timeout_ms;
        let pages = context.store.inbound_pages();
        let ready = pages.ready(before_ms, ROUTE_BATCH_SIZE).await?;
        let is_last = ready.len() < ROUTE_BATCH_SIZE as usize;
        for group in ready {
            route(context, &group, now_ms).await?;
        }
        if is_last {
            return Ok(());
        }
    }
}

async fn route(context: &Arc<Context>, group: &PageGroup, now_ms: i64) -> database::Result<()> {
    let pages = context.store.inbound_pages().of(group).await?;
    let join_timeout_ms = context.live().inbound.join_timeout_ms;
    for joined in inbound::join(pages, now_ms, join_timeout_ms) {
        match receipt(context, group, &joined) {
            Some(receipt) => settle(context, receipt, joined.ids, now_ms).await?,
            None => keep(context, group, joined, now_ms).await?,
        }
    }
    Ok(())
}

/// Returns the receipt of a text in pages, if its carrier sends receipts without their mark. A
/// receipt in one page was read when it arrived.
fn receipt(context: &Context, group: &PageGroup, joined: &JoinedPages) -> Option<Receipt> {
    let carrier = context.carrier(&group.carrier)?;
    let settings = carrier.smpp()?;
    if group.total < 2 || !settings.unmarked_receipts {
        return None;
    }
    let address = |digits: &str| Address {
        digits: digits.to_owned(),
        ..Address::default()
    };
    let deliver = DeliverSm {
        source: address(&group.sender),
        destination: address(&group.number),
        data_coding: joined.data_coding,
        short_message: joined.octets.clone().into(),
        ..DeliverSm::default()
    };
    let read = smpp::receipt::parse(&deliver)?;
    smpp_mapping::receipt(&carrier.name, &deliver, read, settings.receipt_ids)
}

/// Settles a receipt. Its pages are removed afterwards, since a repeated receipt changes nothing.
async fn settle(
    context: &Arc<Context>,
    receipt: Receipt,
    pages: Vec<i64>,
    now_ms: i64,
) -> database::Result<()> {
    let mut receipts = vec![receipt];
    leave_out_raw(context, &mut receipts);
    let report = CarrierReport {
        receipts,
        first_number: context.live().plan.numbers(1),
        ..empty_report(context, now_ms)
    };
    commit_alone(context, report).await?;
    context.store.inbound_pages().remove(pages).await?;
    Ok(())
}

async fn keep(
    context: &Arc<Context>,
    group: &PageGroup,
    joined: JoinedPages,
    now_ms: i64,
) -> database::Result<()> {
    let (number, from) = (
        inbound::address(&group.number),
        inbound::address(&group.sender),
    );
    let routes = context.store.inbound_routes().of_number(&number).await?;
    let route = inbound::matching(&routes, &joined.body);
    let account = route.map(|route| route.account);
    let in_reply_to = match account {
        Some(account) => last_message(context, account, &number, &from, now_ms).await?,
        None => None,
    };
    let target = route.and_then(Target::of);
    let command = command(context, &routes, (&from, &joined), now_ms);
    let message = InboundMessage {
        id: context.message_ids.next(now_ms),
        account,
        route: route.map(|route| route.id.clone()),
        carrier: group.carrier.clone(),
        keyword: route.map(|route| route.keyword.clone()).unwrap_or_default(),
        number,
        sender: from,
        complete: joined.complete,
        in_reply_to,
        received_at_ms: joined.received_at_ms,
        body: Some(joined.body),
    };
    let callback = account.zip(target.as_ref()).map(|(account, target)| {
        let owner = (context.store.bucket_of(account), account);
        match target {
            Target::Url(url) => Callback::of_inbound(owner, &message, url, now_ms),
            Target::User(user) => Callback::of_inbound_by_smpp(owner, &message, user, now_ms),
        }
    });
    let inbound = context.store.inbound_messages();
    let kept = inbound.keep(message, joined.ids, (callback, command));
    if kept.await? == Kept::WithAnswer {
        context.answers.notify_one();
    }
    match target {
        Some(Target::Url(_)) => context.callbacks.wake(),
        Some(Target::User(user)) => context.receipts.wake(&BTreeSet::from([user])),
        None => {}
    }
    Ok(())
}

/// Returns the command of a text to the account whose route without keyword has the number. A text
/// whose first page is missing has none, since its first word is unknown.
fn command(
    context: &Context,
    routes: &[InboundRoute],
    (from, joined): (&str, &JoinedPages),
    now_ms: i64,
) -> Option<SubscriberCommand> {
    let owner = routes.iter().find(|route| route.keyword.is_empty())?;
    let recipient = parse_international(from).filter(|_| joined.has_first_page)?;
    let live = context.live();
    let (command, word) = Command::of(&joined.body, &live.inbound.stop_words)?;
    Some(SubscriberCommand {
        account: owner.account,
        recipient,
        command,
        word,
        at_ms: now_ms,
    })
}

/// The place to which the messages of a route go.
enum Target {
    Url(String),
    User(String),
}

impl Target {
    fn of(route: &InboundRoute) -> Option<Self> {
        let user = route.smpp_user.clone().map(Self::User);
        user.or_else(|| route.url.clone().map(Self::Url))
    }
}

/// Returns the account's last message to the sender of an inbound message, with its number as
/// sender.
async fn last_message(
    context: &Context,
    account: AccountId,
    number: &str,
    from: &str,
    now_ms: i64,
) -> database::Result<Option<MessageId>> {
    let Some(recipient) = parse_international(from) else {
        return Ok(None);
    };
    let search = SearchScope {
        account: Some(account),
        environment: Environment::Live,
        customer_reference: None,
        sender_key: Some(sender::key(number)),
        recipient: Some(recipient),
    };
    let mut range = IdRange::accepted(Some(now_ms - REPLY_MS), None);
    for _ in 0..MAX_REPLY_BATCHES {
        let found = context.store.search();
        let found = found.newest(&search, range, REPLY_BATCH_SIZE).await?;
        let Some(last) = found.last().map(|one| one.id) else {
            return Ok(None);
        };
        range = range.before(last);
        let is_of_number = |one: &&store::Candidate| sender::key(&one.sender) == number;
        let own: Vec<_> = found.iter().filter(is_of_number).collect();
        let keys: Vec<_> = own.iter().map(|one| (one.account, one.id)).collect();
        let recipients = context.store.recipients();
        let to_sender = recipients.messages_with(&keys, recipient).await?;
        if let Some(newest) = own.iter().find(|one| to_sender.contains(&one.id)) {
            return Ok(Some(newest.id));
        }
    }
    Ok(None)
}
