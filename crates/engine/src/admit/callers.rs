//! Authentication: tokens and accounts, cached between requests.
//!
//! A task polls the revision of the database every 250 ms and drops cached accounts that changed.
//! So a revoked token is refused within a second on every node.

use crate::error::Error;
use database::Outage;
use domain::inbound::InboundRoute;
use domain::token::{self, TokenHash, TokenTerms};
use domain::token_guesses::Guesses;
use domain::{AccountId, Customer, Refusal, sender};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;
use store::{Revision, Store};
use tokio::sync::watch;

/// Period of the polls of the revision.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Period of the commits of the last uses of tokens. A token that is dropped from the cache meanwhile
/// keeps its earlier use.
const USES_INTERVAL: Duration = Duration::from_mins(1);
/// The time in which a second use of a token is not noted.
const USE_MS: i64 = 1_000;
/// Maximum number of cached tokens, valid and unknown. At this number the unknown ones are dropped
/// first, then all.
const MAX_TOKENS: usize = 100_000;

/// The account that makes a request.
#[derive(Debug)]
pub struct Caller {
    /// The account with its sender IDs.
    pub customer: Arc<Customer>,
    /// `true` if the account has ever had an opt-out.
    pub has_opt_outs: bool,
    /// The id of the token of the request.
    pub token_id: String,
    /// The limits of the token.
    terms: TokenTerms,
    /// The number of the token, if it has a rate limit of its own.
    counted: Option<u64>,
    /// The time of the last use of the token, to the second.
    used_at_ms: AtomicI64,
}

impl Caller {
    /// Returns the limits of the token.
    pub(crate) fn terms(&self) -> &TokenTerms {
        &self.terms
    }

    /// Returns `true` if the account or its parent is one of these.
    pub(crate) fn is_concerned(&self, changed: &HashSet<AccountId>) -> bool {
        let mut accounts = self.customer.accounts();
        accounts.any(|account| changed.contains(&account))
    }

    /// Notes the use of the token. Requests of the same second do not write to shared memory.
    fn used(&self, now_ms: i64) {
        let before_ms = self.used_at_ms.load(Ordering::Relaxed);
        if now_ms - before_ms >= USE_MS {
            self.used_at_ms.store(now_ms, Ordering::Relaxed);
        }
    }

    /// Returns the number and the limit of a token that has a rate limit of its own.
    pub(crate) fn rate(&self) -> Option<(u64, u32)> {
        self.counted.zip(self.terms.per_minute)
    }
}

#[derive(Default)]
struct Known {
    tokens: HashMap<TokenHash, Option<Arc<Caller>>>,
    /// Number of invalidations so far. A lookup that began before the last one is not cached.
    forgotten: u64,
}

impl Known {
    /// Frees capacity for one more token. Unknown tokens are dropped before customers, since
    /// anybody can send any number of them.
    fn evict_for_one(&mut self) {
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
    /// Maximum number of unknown tokens from one address in a minute.
    max_guesses: AtomicU32,
    revision: watch::Sender<Revision>,
    /// Number of requests by operators that nodes read their configuration again.
    reloads: watch::Sender<i64>,
}

impl Callers {
    pub(crate) async fn new(store: Store, max_guesses: u32) -> Result<Self, database::Error> {
        let revision = store.revisions().current().await?;
        Ok(Self {
            store,
            known: Mutex::default(),
            guesses: Mutex::default(),
            max_guesses: AtomicU32::new(max_guesses),
            revision: watch::Sender::new(revision),
            reloads: watch::Sender::new(revision.reloads),
        })
    }

    /// Subscribes to the revision of the database.
    pub(crate) fn revision(&self) -> watch::Receiver<Revision> {
        self.revision.subscribe()
    }

    /// Subscribes to the number of requested configuration reloads.
    pub(crate) fn reloads(&self) -> watch::Receiver<i64> {
        self.reloads.subscribe()
    }

    /// Sets the maximum number of unknown tokens from one address in a minute.
    pub(crate) fn limit_guesses(&self, most: u32) {
        self.max_guesses.store(most, Ordering::Relaxed);
    }

    /// Returns the account of a token for a request from `client`.
    ///
    /// Unknown tokens are counted by address, but still looked up. So a customer who shares an
    /// address with an attacker is not locked out.
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
            // The future is boxed because a miss is rare and every request would pay for its size.
            None => Box::pin(self.look_up(hash, forgotten)).await?,
        };
        let good = match caller {
            Some(caller) => caller.terms.check(client, now_ms).map(|()| {
                caller.used(now_ms);
                caller
            }),
            None => Err(Refusal::TokenInvalid),
        };
        good.map_err(|refusal| match refusal {
            Refusal::TokenInvalid => self.guessed(client, now_ms).into(),
            other => other.into(),
        })
    }

    /// Returns the account of a user without a token, such as one of the console. The database is
    /// read, so a change of the account counts at once. `via` stands for the id of a token.
    pub(crate) async fn member(
        &self,
        account: AccountId,
        via: &str,
    ) -> Result<Option<Caller>, Error> {
        let found = self.customer(account).await?;
        Ok(found.map(|(customer, has_opt_outs)| Caller {
            customer: Arc::new(customer),
            has_opt_outs,
            token_id: via.to_owned(),
            terms: TokenTerms::default(),
            counted: None,
            used_at_ms: AtomicI64::default(),
        }))
    }

    /// Returns the cached account of a token, even one that is expired. The request log uses it.
    pub(crate) fn remembered(&self, text: &str) -> Option<Arc<Caller>> {
        token::is_well_formed(text)
            .then(|| self.known().tokens.get(&token::hash(text)).cloned())
            .flatten()
            .flatten()
    }

    /// Returns the refusal of an unknown or expired token. Both look the same to the client.
    fn guessed(&self, client: IpAddr, now_ms: i64) -> Refusal {
        self.guesses
            .lock()
            .unknown(client, self.max_guesses.load(Ordering::Relaxed), now_ms)
    }

    async fn look_up(&self, hash: TokenHash, forgotten: u64) -> Result<Option<Arc<Caller>>, Error> {
        let caller = match self.store.tokens().account_of(&hash).await? {
            Some((account, token_id, terms)) => {
                let found = self.customer(account).await?;
                found.map(|(customer, has_opt_outs)| {
                    Arc::new(Caller {
                        customer: Arc::new(customer),
                        has_opt_outs,
                        token_id,
                        counted: terms.per_minute.map(|_| number_of(&hash)),
                        used_at_ms: AtomicI64::default(),
                        terms,
                    })
                })
            }
            None => None,
        };
        let mut known = self.known();
        if known.forgotten == forgotten {
            known.evict_for_one();
            known.tokens.insert(hash, caller.clone());
        }
        Ok(caller)
    }

    /// Returns an account with its sender IDs, and `true` if it has ever had an opt-out.
    async fn customer(&self, id: AccountId) -> Result<Option<(Customer, bool)>, database::Error> {
        let Some(account) = self.store.accounts().find(id).await? else {
            return Ok(None);
        };
        let senders = self.store.senders().of(id).await?;
        let routes = self.store.inbound_routes().of(id).await?;
        let numbers = routes.into_iter().map(InboundRoute::as_sender);
        let senders = numbers
            .chain(senders)
            .map(|sender| (sender::key(&sender.name), sender))
            .collect();
        let has_opt_outs = self.store.opt_outs().were_used(id).await?;
        let resale = self.store.sub_accounts().terms(id).await?;
        let customer = Customer {
            account,
            senders,
            resale,
        };
        Ok(Some((customer, has_opt_outs)))
    }

    /// Polls the revision and invalidates what changed. Runs until the engine ends.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        let outage = Outage::of("the revision of accounts cannot be read");
        loop {
            looks.tick().await;
            if outage.note(self.look().await).is_none() {
                // The cache may be stale, so it is cleared: correct answers matter more than fast
                // ones.
                self.forget(None);
            }
        }
    }

    /// Stores the last uses of tokens. Runs until the engine ends.
    pub(crate) async fn follow_uses(self: Arc<Self>) {
        let mut looks = tokio::time::interval(USES_INTERVAL);
        let outage = Outage::of("the last uses of tokens cannot be stored");
        let mut stored_ms = 0;
        loop {
            looks.tick().await;
            let uses = self.uses_since(stored_ms);
            let last_ms = uses.iter().map(|(_, at_ms)| *at_ms).max();
            let stored = self.store.tokens().note_uses(uses).await;
            if outage.note(stored).is_some() {
                stored_ms = last_ms.unwrap_or(stored_ms);
            }
        }
    }

    /// Returns the last uses of cached tokens after a time, by the ids of the tokens.
    fn uses_since(&self, after_ms: i64) -> Vec<(String, i64)> {
        let known = self.known();
        let callers = known.tokens.values().flatten();
        let uses = callers.map(|caller| (caller, caller.used_at_ms.load(Ordering::Relaxed)));
        let new = uses.filter(|(_, at_ms)| *at_ms > after_ms);
        new.map(|(caller, at_ms)| (caller.token_id.clone(), at_ms))
            .collect()
    }

    async fn look(&self) -> Result<(), database::Error> {
        let then = *self.revision.borrow();
        let now = self.store.revisions().current().await?;
        let is_another = now.is_another_than(then);
        if is_another {
            let changed = self.store.revisions().changed_accounts(then, now).await?;
            self.forget(changed.as_ref());
        }
        self.reloads.send_if_modified(|reloads| {
            let is_asked = *reloads != now.reloads;
            *reloads = now.reloads;
            is_asked
        });
        // An audited change that affects no cached value notifies nobody. Its number is still
        // stored, so the next poll does not read it again.
        self.revision.send_if_modified(|seen| {
            *seen = now;
            is_another
        });
        Ok(())
    }

    /// Drops the given accounts and their sub-accounts from the cache, or all of them. All unknown
    /// tokens are dropped too, because one may have been created since.
    fn forget(&self, changed: Option<&HashSet<AccountId>>) {
        let mut known = self.known();
        known.tokens.retain(|_, caller| match (caller, changed) {
            (Some(caller), Some(changed)) => !caller.is_concerned(changed),
            _ => false,
        });
        known.forgotten += 1;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}

/// Returns the number of a token: the first octets of its hash.
fn number_of(hash: &TokenHash) -> u64 {
    hash.iter()
        .take(8)
        .fold(0, |number, &octet| number << 8 | u64::from(octet))
}

#[cfg(test)]
mod tests;
