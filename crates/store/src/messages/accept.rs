//! Acceptance of messages: the one place that charges a wallet.
//!
//! Drafts that arrive together are decided and committed together. A refusal does not affect the
//! others.

use crate::batches::batch::Batch;
use crate::batches::batch_rows;
use crate::buckets::Buckets;
use crate::idempotency::{self as keys, KeptAnswer, KeyedRequest, NewAnswer, Place, StoredAnswer};
use crate::messages::duplicates::{self, OpenWindows, Window};
use crate::messages::message_times::{self, Span};
use crate::messages::recipient_texts;
use crate::otps::{self, OtpChecks};
use crate::rows::{id_bytes, paid_from};
use crate::wallets::{self, EntryKind, LedgerEntry, Movement, Owner};
use database::{Change, Error, Result, Tx, bulk, query, value};
use domain::idempotency::{self, Decision, KeyState};
use domain::{Draft, Environment, MessageId, Money, Purse, Refusal, Terms, recipient_list};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// A draft that requests acceptance.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// The id of the message.
    pub id: MessageId,
    /// The content, the recipients and the price.
    pub draft: Arc<Draft>,
    /// The terms of its gateway.
    pub terms: Terms,
    /// The batches that send it.
    pub batches: Vec<Batch>,
    /// The idempotency key of the request, if it has one.
    pub key: Option<KeyedSend>,
}

/// A send with an idempotency key.
#[derive(Clone, Debug)]
pub struct KeyedSend {
    /// The key and the request.
    pub request: KeyedRequest,
    /// The form of its answer.
    pub answer: MakeAnswer,
}

/// A writer of the answer to an accepted send, from the balance after its charge.
#[derive(Clone)]
pub struct MakeAnswer(pub Arc<dyn Fn(Money) -> StoredAnswer + Send + Sync>);

impl fmt::Debug for MakeAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeAnswer")
    }
}

/// The answer to a draft.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Accepted {
    /// The message is accepted and paid for.
    Yes {
        /// The balance of the wallet after it. It is zero in the sandbox, which has no wallet.
        balance: Money,
    },
    /// The same request was accepted under its key before, with this answer. Nothing was charged.
    Replay(StoredAnswer),
    /// The draft is refused, and nothing was charged.
    No(Refusal),
}

pub(super) struct Accept {
    pub(super) buckets: Buckets,
    pub(super) windows: Arc<OpenWindows>,
    pub(super) now_ms: i64,
    pub(super) messages: Vec<NewMessage>,
}

/// An accepted message.
struct Kept<'a> {
    message: &'a NewMessage,
    /// The amounts that paid for it.
    drawn: Purse,
    /// The balance after it.
    balance: Money,
}

/// A decision on a message, or its refusal.
type Decided<T> = std::result::Result<T, Refusal>;

/// The decisions on the messages of a group, one after the other.
struct Decisions<'a> {
    accept: &'a Accept,
    wallets: BTreeMap<Owner, wallets::Wallet>,
    /// The windows that this transaction opened and that no message has used yet.
    opened: BTreeSet<Window>,
    /// The kept answers of the keys.
    known: BTreeMap<Place, KeptAnswer>,
    otps: OtpChecks,
    /// The keys of messages that were accepted before in this group.
    used: BTreeSet<Place>,
    movements: BTreeMap<Owner, Movement>,
    kept: Vec<Kept<'a>>,
}

impl<'a> Decisions<'a> {
    /// Decides on a message.
    fn decide(&mut self, message: &'a NewMessage) -> Result<Accepted> {
        let place = self.accept.place(message);
        match self.decide_key(message, place.as_ref()) {
            Ok(None) => {}
            Ok(Some(answer)) => return Ok(Accepted::Replay(answer)),
            Err(refusal) => return Ok(Accepted::No(refusal)),
        }
        let (owner, now_ms) = (self.accept.owner(message), self.accept.now_ms);
        if let Err(refusal) = self.otps.check(owner, &message.draft, now_ms) {
            return Ok(Accepted::No(refusal));
        }
        let window = self.accept.window(message);
        if !self.opened.contains(&window) {
            return Ok(Accepted::No(Refusal::Duplicate));
        }
        let (drawn, balance) = if is_live(message) {
            match self.draw(message)? {
                Ok(paid) => paid,
                Err(refusal) => return Ok(Accepted::No(refusal)),
            }
        } else {
            (Purse::default(), Money::ZERO)
        };
        self.opened.remove(&window);
        self.otps.note(owner, &message.draft, now_ms);
        self.used.extend(place);
        self.kept.push(Kept {
            message,
            drawn,
            balance,
        });
        Ok(Accepted::Yes { balance })
    }

    /// Returns the answer that is kept of the same request, if one is.
    fn decide_key(
        &self,
        message: &NewMessage,
        place: Option<&Place>,
    ) -> Decided<Option<StoredAnswer>> {
        let (Some(keyed), Some(place)) = (&message.key, place) else {
            return Ok(None);
        };
        let known = self.known.get(place);
        let state = match known {
            _ if self.used.contains(place) => KeyState::InUse,
            Some(kept) => kept.state(),
            None => KeyState::Unused,
        };
        let KeyedRequest {
            request, window_ms, ..
        } = keyed.request;
        match idempotency::decide(state, request, self.accept.now_ms, window_ms)? {
            Decision::Handle => Ok(None),
            Decision::Replay => Ok(known.map(|kept| kept.answer.clone())),
        }
    }

    /// Draws the cost from the wallet, and returns the parts and the balance after them.
    fn draw(&mut self, message: &NewMessage) -> Result<Decided<(Purse, Money)>> {
        let owner = self.accept.owner(message);
        let cost = message.draft.cost;
        let wallet = self
            .wallets
            .get_mut(&owner)
            .ok_or(Error::Impossible("an account has no wallet"))?;
        // The status of the account changed after the caller was admitted.
        if let Some(refusal) = &wallet.refusal {
            return Ok(Err(refusal.clone()));
        }
        let Some(drawn) = wallet.purse.draw(cost) else {
            return Ok(Err(Refusal::InsufficientFunds {
                needed: cost,
                available: wallet.purse.total(),
            }));
        };
        if let Err(refusal) = wallet.spending.spend(cost, self.accept.now_ms) {
            return Ok(Err(refusal));
        }
        wallet.purse.pay(&drawn);
        let movement = self.movements.entry(owner).or_default();
        movement.purse.pay(&drawn);
        movement.spending = Some(wallet.spending);
        Ok(Ok((drawn, wallet.purse.total())))
    }
}

impl Change for Accept {
    type Output = Vec<Accepted>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<Accepted>> {
        // Keys and one-time passwords are decided under the lock of their account's wallet, in the
        // sandbox too.
        let owners: BTreeSet<Owner> = self
            .messages
            .iter()
            .filter(|message| {
                is_live(message) || message.key.is_some() || message.draft.otp.is_some()
            })
            .map(|message| self.owner(message))
            .collect();
        let owners: Vec<Owner> = owners.into_iter().collect();
        let wallets = wallets::lock(tx, &owners).await?;
        let places = self.messages.iter().filter_map(|new| self.place(new));
        let known = keys::find(tx, &places.collect()).await?;
        let drafts = self.messages.iter();
        let drafts = drafts.map(|message| (self.owner(message), &*message.draft));
        let mut decisions = Decisions {
            accept: self,
            wallets,
            opened: self.open_windows(tx).await?,
            known,
            otps: OtpChecks::of(tx, drafts, self.now_ms).await?,
            used: BTreeSet::new(),
            movements: BTreeMap::new(),
            kept: Vec::with_capacity(self.messages.len()),
        };
        let answers = self.messages.iter().map(|one| decisions.decide(one));
        let answers = answers.collect::<Result<Vec<Accepted>>>()?;
        // Windows without an accepted message are closed again: a refused send never opens one.
        let unused: Vec<Window> = decisions.opened.into_iter().collect();
        duplicates::close_windows(tx, &unused, self.now_ms).await?;
        let mut kept = decisions.kept;
        // The order of ids fills the pages of tables and indexes.
        kept.sort_unstable_by_key(|kept| kept.message.id);
        self.charge(tx, &decisions.movements, &kept).await?;
        self.keep(tx, &kept).await?;
        Ok(answers)
    }

    async fn is_committed(&self, tx: &mut Tx, answers: &Vec<Accepted>) -> Result<bool> {
        let mut all = self.messages.iter().zip(answers);
        let Some((accepted, _)) = all.find(|(_, answer)| matches!(answer, Accepted::Yes { .. }))
        else {
            // The transaction wrote nothing that matters.
            return Ok(true);
        };
        let found: Option<i64> = tx
            .fetch_optional(
                query("select cost from messages where bucket = $1 and message_id = $2")
                    .bind(self.owner(accepted).0.0)
                    .bind(id_bytes(&accepted.id)),
            )
            .await?;
        Ok(found.is_some())
    }
}

fn is_live(message: &NewMessage) -> bool {
    message.draft.environment == Environment::Live
}

impl Accept {
    fn owner(&self, message: &NewMessage) -> Owner {
        let account = message.draft.account;
        (self.buckets.account(account), account)
    }

    /// Returns the place of a message's key, if it has one.
    fn place(&self, message: &NewMessage) -> Option<Place> {
        let (account, environment) = (message.draft.account, message.draft.environment);
        let key = &message.key.as_ref()?.request.key;
        Some(keys::place_of_key(self.buckets, account, environment, key))
    }

    fn window(&self, message: &NewMessage) -> Window {
        (self.owner(message).0, message.draft.fingerprint)
    }

    /// Opens the duplicate window of every message. Returns the windows that were not open yet.
    async fn open_windows(&self, tx: &mut Tx) -> Result<BTreeSet<Window>> {
        // Two messages of a group may have the same window, and PostgreSQL refuses to open a window
        // twice in one statement.
        let named: BTreeSet<Window> = self.messages.iter().map(|new| self.window(new)).collect();
        let named: Vec<Window> = named.into_iter().collect();
        duplicates::open_windows(tx, &self.windows, &named, self.now_ms).await
    }

    async fn charge(
        &self,
        tx: &mut Tx,
        movements: &BTreeMap<Owner, Movement>,
        kept: &[Kept<'_>],
    ) -> Result<()> {
        wallets::add(tx, movements).await?;
        let mut entries = Vec::with_capacity(kept.len());
        for Kept { message, drawn, .. } in kept {
            entries.extend(drawn.parts().map(|(component, amount)| LedgerEntry {
                account: message.draft.account,
                subject: message.id,
                recipient: None,
                kind: EntryKind::Charge,
                component,
                amount: -amount,
                created_at_ms: self.now_ms,
                reference: None,
            }));
        }
        // Batches are also sorted by key. On PostgreSQL the key begins with the account.
        if !self.buckets.is_embedded() {
            entries.sort_by_key(|entry| (entry.account, entry.subject));
        }
        let new = wallets::enter(tx, |account| self.buckets.account(account), &entries)
            .await?
            .len();
        if new == entries.len() {
            Ok(())
        } else {
            Err(Error::Impossible("a message id came twice"))
        }
    }

    async fn keep(&self, tx: &mut Tx, kept: &[Kept<'_>]) -> Result<()> {
        tx.execute_each(
            bulk(
                "insert into messages (bucket, message_id, account_id, due_at_ms,
                 sandbox, gateway, refund_undelivered, two_legs, sender, body, callback_url,
                     customer_reference, cost, page_count, paid_from, recipients, otp_id,
                     pages_total, validity_s, receipts_to, receipts_wanted)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
                 $17, $18, $19, $20, $21)",
                "insert into messages (bucket, message_id, account_id, due_at_ms,
                 sandbox, gateway, refund_undelivered, two_legs, sender, body, callback_url,
                     customer_reference, cost, page_count, paid_from, recipients, otp_id,
                     pages_total, validity_s, receipts_to, receipts_wanted)
             select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[],
                 $5::boolean[], $6::text[], $7::boolean[], $8::boolean[], $9::text[],
                 $10::text[], $11::text[], $12::text[], $13::bigint[], $14::bigint[],
                 $15::text[], $16::bytea[], $17::bytea[], $18::bigint[], $19::bigint[],
                 $20::text[], $21::text[])",
            )
            .rows(kept, |row| {
                let Kept { message, drawn, .. } = row;
                let draft = &message.draft;
                [
                    value(self.owner(message).0.0),
                    value(id_bytes(&message.id)),
                    value(draft.account.0),
                    value(draft.due_at_ms),
                    value(draft.environment == Environment::Sandbox),
                    value(draft.gateway.as_str()),
                    value(message.terms.refund_undelivered),
                    value(message.terms.two_legs),
                    value(&draft.sender),
                    value(draft.texts.is_none().then_some(draft.text.as_str())),
                    value(&draft.callback_url),
                    value(&draft.customer_reference),
                    value(draft.cost.units()),
                    value(draft.page_count),
                    value(paid_from(drawn)),
                    value(recipient_list::pack(&draft.recipients)),
                    value(draft.otp.map(|otp| otp.text.id.0.as_bytes().to_vec())),
                    value(draft.pages_total()),
                    value(draft.validity_s),
                    value(draft.receipts.as_ref().map(|asked| &*asked.system_id)),
                    value(draft.receipts.as_ref().map(|asked| asked.wanted.as_str())),
                ]
            }),
        )
        .await?;
        let mut spans = BTreeSet::new();
        for Kept { message, .. } in kept {
            let (owner, draft) = (self.owner(message), &*message.draft);
            let own = Span::of_message(owner, !is_live(message), message.id, &draft.sender);
            spans.extend(own);
            if let Some(texts) = &draft.texts {
                recipient_texts::insert(tx, owner.0, message.id, texts).await?;
            }
            otps::keep(tx, owner, message.id, draft, self.now_ms).await?;
        }
        message_times::insert(tx, &spans).await?;
        let work: Vec<&Batch> = kept.iter().flat_map(|kept| &kept.message.batches).collect();
        batch_rows::insert(tx, &work).await?;
        self.keep_answers(tx, kept).await
    }

    /// Keeps the answers of the accepted messages that have keys.
    async fn keep_answers(&self, tx: &mut Tx, kept: &[Kept<'_>]) -> Result<()> {
        let keyed = kept.iter().filter_map(|kept| {
            let key = kept.message.key.as_ref()?;
            Some((self.place(kept.message)?, key, kept.balance))
        });
        let keyed: Vec<_> = keyed.collect();
        let answers: Vec<_> = keyed
            .iter()
            .map(|(place, key, balance)| NewAnswer {
                place,
                request: &key.request,
                answer: (key.answer.0)(*balance),
            })
            .collect();
        keys::keep(tx, &answers, self.now_ms).await
    }
}
