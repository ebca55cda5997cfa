//! Who is calling: tokens and accounts, remembered between requests.
//!
//! The cached state of an account is dropped when it has changed, by the revision in the database, which is looked at several
//! times a second: a revoked token is refused within a second on every node.

use crate::error::Error;
use database::Outage;
use domain::guess::Guesses;
use domain::token::{self, Terms, TokenHash};
use domain::{AccountId, Customer, Refusal, sender};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use store::{Revision, Store};
use tokio::sync::watch;

/// How often the revision is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Tokens remembered, good and bad; when there are more, the bad ones are forgotten, and then the good ones too.
const MAX_TOKENS: usize = 100_000;

/// The account behind a request.
#[derive(Debug)]
pub struct Caller {
    /// The account with its sender IDs.
    pub customer: Arc<Customer>,
    /// The id of the token that it came with.
    pub token_id: String,
    /// Until when and from where that token is good.
    terms: Terms,
}

#[derive(Default)]
struct Known {
    tokens: HashMap<TokenHash, Option<Arc<Caller>>>,
    /// Counts how often something was forgotten: an answer read before that is not remembered.
    forgotten: u64,
}

impl Known {
    /// Makes room for one more. Guesses, of which anybody can make any number, go before customers.
    fn make_room(&mut self) {
        if self.tokens.len() >= MAX_TOKENS {
            self.tokens.retain(|_, caller| caller.is_some());
        }
        if self.tokens.len() >= MAX_TOKENS {
            self.tokens.clear();
        }
    }
}

/// The cached callers.
pub(crate) struct Callers {
    store: Store,
    known: Mutex<Known>,
    guesses: Mutex<Guesses>,
    /// Unknown tokens from one address in a minute.
    most_guesses: AtomicU32,
    revision: watch::Sender<Revision>,
    /// How often nodes were asked to read their configuration again.
    reloads: watch::Sender<i64>,
}

impl Callers {
    pub(crate) async fn new(store: Store, most_guesses: u32) -> Result<Self, database::Error> {
        let revision = store.revision().await?;
        Ok(Self {
            store,
            known: Mutex::default(),
            guesses: Mutex::default(),
            most_guesses: AtomicU32::new(most_guesses),
            revision: watch::Sender::new(revision),
            reloads: watch::Sender::new(revision.reloads),
        })
    }

    /// The revision, for others who remember what it tells of.
    pub(crate) fn revision(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }

    /// How often nodes were asked to read their configuration again.
    pub(crate) fn reloads(&self) -> watch::Receiver<i64> {
        self.reloads.subscribe()
    }

    /// From now on an address may come with so many unknown tokens in a minute.
    pub(crate) fn limit_guesses(&self, most: u32) {
        self.most_guesses.store(most, Ordering::Relaxed);
    }

    /// The account behind a token, for a request of `client`.
    ///
    /// Unknown tokens are counted by address, but looked up nevertheless: whoever guesses beside a customer, behind
    /// the same address, does not keep the customer out.
    pub(crate) async fn caller(
        &self,
        text: Option<&str>,
        client: IpAddr,
        now_ms: i64,
    ) -> Result<Arc<Caller>, Error> {
        let text = text
            .filter(|text| !text.is_empty())
            .ok_or(Refusal::TokenMissing)?;
        if !token::is_well_formed(text) {
            return Err(Refusal::TokenInvalid.into());
        }
        let hash = token::hash(text);
        let (known, forgotten) = {
            let known = self.known();
            (known.tokens.get(&hash).cloned(), known.forgotten)
        };
        let caller = match known {
            Some(caller) => caller,
            // Boxed, as it is rare and every request would carry it.
            None => Box::pin(self.look_up(hash, forgotten)).await?,
        };
        let good = match caller {
            Some(caller) => caller.terms.check(client, now_ms).map(|()| caller),
            None => Err(Refusal::TokenInvalid),
        };
        good.map_err(|refusal| match refusal {
            Refusal::TokenInvalid => self.guessed(client, now_ms).into(),
            other => other.into(),
        })
    }

    /// The account that is remembered of a token, whether it may call now or not: for the log.
    pub(crate) fn remembered(&self, text: &str) -> Option<Arc<Caller>> {
        token::is_well_formed(text)
            .then(|| self.known().tokens.get(&token::hash(text)).cloned())
            .flatten()
            .flatten()
    }

    /// The answer to an unknown token. An expired one is none the wiser.
    fn guessed(&self, client: IpAddr, now_ms: i64) -> Refusal {
        self.guesses
            .lock()
            .unknown(client, self.most_guesses.load(Ordering::Relaxed), now_ms)
    }

    async fn look_up(&self, hash: TokenHash, forgotten: u64) -> Result<Option<Arc<Caller>>, Error> {
        let caller = match self.store.token_account(&hash).await? {
            Some((account, token_id, terms)) => self.customer(account).await?.map(|customer| {
                Arc::new(Caller {
                    customer: Arc::new(customer),
                    token_id,
                    terms,
                })
            }),
            None => None,
        };
        let mut known = self.known();
        if known.forgotten == forgotten {
            known.make_room();
            known.tokens.insert(hash, caller.clone());
        }
        Ok(caller)
    }

    async fn customer(&self, id: AccountId) -> Result<Option<Customer>, database::Error> {
        let Some(account) = self.store.account(id).await? else {
            return Ok(None);
        };
        let senders = self.store.senders(Some(id)).await?;
        let senders = senders
            .into_iter()
            .map(|(_, sender)| (sender::key(&sender.name), sender))
            .collect();
        Ok(Some(Customer { account, senders }))
    }

    /// Forgets what has changed whenever the revision has. Runs until the engine ends.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        let outage = Outage::of("the revision of accounts cannot be read");
        loop {
            looks.tick().await;
            if outage.note(self.look().await).is_none() {
                // A cached state may be out of date: better slow than wrong.
                self.forget(None);
            }
        }
    }

    async fn look(&self) -> Result<(), database::Error> {
        let then = *self.revision.borrow();
        let now = self.store.revision().await?;
        let is_another = now.is_another_than(then);
        if is_another {
            let changed = self.store.changed_accounts(then, now).await?;
            self.forget(changed.as_ref());
        }
        self.reloads.send_if_modified(|reloads| {
            let is_asked = *reloads != now.reloads;
            *reloads = now.reloads;
            is_asked
        });
        // A change that was only audited wakes nobody, but need not be looked through at the next change.
        self.revision.send_if_modified(|seen| {
            *seen = now;
            is_another
        });
        Ok(())
    }

    /// Forgets what is known of these accounts, or of all, and which tokens are none: they may be new ones of these.
    fn forget(&self, changed: Option<&HashSet<AccountId>>) {
        let mut known = self.known();
        known.tokens.retain(|_, caller| match (caller, changed) {
            (Some(caller), Some(changed)) => !changed.contains(&caller.customer.account.id),
            _ => false,
        });
        known.forgotten += 1;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}

#[cfg(test)]
mod tests;
