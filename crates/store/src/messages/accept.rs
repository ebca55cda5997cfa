//! Acceptance of messages: the one place that charges a wallet.
//!
//! Drafts that arrive together share a commit. A refusal does not affect the others.

use super::message_rows::{self, MessageRow};
use super::new_message::{Accepted, NewMessage};
use crate::batches::batch::Batch;
use crate::batches::batch_rows;
use crate::buckets::Buckets;
use crate::idempotency::{self as keys, KeptAnswer, KeyedRequest, NewAnswer, Place, StoredAnswer};
use crate::messages::duplicates::{self, OpenWindows, Window};
use crate::messages::message_times::{self, Span};
use crate::messages::recipient_texts;
use crate::otps::{self, OtpChecks};
use crate::rows::id_bytes;
use crate::wallets::{self, EntryKind, LedgerEntry, MARGINS, Movement, Owner};
use database::{Change, Error, Result, Tx, query};
use domain::idempotency::{self, Decision, KeyState};
use domain::resale::Resale;
use domain::{Environment, Money, Purse, Refusal};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
        let parent = self.accept.parent(message);
        let of_parent = match parent {
            Some(parent) => self.wallet(parent)?.refusal.clone(),
            None => None,
        };
        let wallet = self
            .wallets
            .get_mut(&owner)
            .ok_or(Error::Impossible("an account has no wallet"))?;
        // The status of the account changed after the caller was admitted.
        if let Some(refusal) = &wallet.refusal {
            return Ok(Err(refusal.clone()));
        }
        if let Some(refusal) = of_parent {
            return Ok(Err(refusal));
        }
        let Some(drawn) = wallet.purse.draw(cost) else {
            return Ok(Err(Refusal::InsufficientFunds {
                needed: cost,
                available: wallet.purse.total(),
            }));
        };
        if let Err(refusal) = wallet.spending.spend(cost, self.accept.now_ms) {
            return Ok(Err(match parent {
                Some(_) => Resale::refusal(refusal),
                None => refusal,
            }));
        }
        wallet.purse.pay(&drawn);
        let movement = self.movements.entry(owner).or_default();
        movement.purse.pay(&drawn);
        movement.spending = Some(wallet.spending);
        let balance = wallet.purse.total();
        let margin = parent.map(|parent| (parent, message.draft.margin()));
        // Without a margin the parent's wallet stays as it is.
        if let Some((parent, margin)) = margin
            && margin.is_positive()
        {
            self.wallet(parent)?.purse.add(MARGINS, margin);
            let movement = self.movements.entry(parent).or_default();
            movement.purse.add(MARGINS, margin);
        }
        Ok(Ok((drawn, balance)))
    }

    fn wallet(&mut self, owner: Owner) -> Result<&mut wallets::Wallet> {
        let wallet = self.wallets.get_mut(&owner);
        wallet.ok_or(Error::Impossible("an account has no wallet"))
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
            .flat_map(|message| [Some(self.owner(message)), self.parent(message)])
            .flatten()
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

    /// Returns the parent of a message's account, if it is a sub-account that is charged.
    fn parent(&self, message: &NewMessage) -> Option<Owner> {
        let parent = message.draft.parent.filter(|_| is_live(message))?;
        Some((self.buckets.account(parent), parent))
    }

    /// Returns the entry of the margin that the parent of a message's account gets.
    fn margin(&self, message: &NewMessage) -> Option<LedgerEntry> {
        let (_, account) = self.parent(message)?;
        let amount = message.draft.margin();
        amount.is_positive().then_some(LedgerEntry {
            account,
            subject: message.id,
            recipient: None,
            kind: EntryKind::Margin,
            component: MARGINS,
            amount,
            created_at_ms: self.now_ms,
            reference: None,
        })
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
            entries.extend(self.margin(message));
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
        let rows: Vec<MessageRow<'_>> = kept
            .iter()
            .map(|kept| MessageRow {
                bucket: self.owner(kept.message).0,
                message: kept.message,
                drawn: &kept.drawn,
            })
            .collect();
        message_rows::insert(tx, &rows).await?;
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
