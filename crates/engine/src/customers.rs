//! Who is calling: tokens and accounts, remembered between requests.
//!
//! What is remembered is dropped when the revision in the database has changed, which is looked at several
//! times a second: a revoked token is refused within a second on every node.

use crate::Error;
use domain::token::{self, TokenHash};
use domain::{AccountId, Customer, Refusal, sender};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Store;
use tokio::sync::watch;

/// How often the revision is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Tokens remembered, good and bad; all are forgotten when there are more.
const MOST_TOKENS: usize = 100_000;

/// The account behind a request.
#[derive(Debug)]
pub struct Caller {
    /// The account with its sender IDs.
    pub customer: Arc<Customer>,
}

#[derive(Default)]
struct Known {
    tokens: HashMap<TokenHash, Option<Arc<Caller>>>,
    /// Counts how often everything was forgotten: an answer read before that is not remembered.
    forgotten: u64,
}

/// What is remembered.
pub(crate) struct Customers {
    store: Store,
    known: Mutex<Known>,
    revision: watch::Sender<i64>,
}

impl Customers {
    pub(crate) async fn new(store: Store) -> Result<Self, store::Error> {
        let revision = watch::Sender::new(store.revision().await?);
        Ok(Self {
            store,
            known: Mutex::default(),
            revision,
        })
    }

    /// The revision, for others who remember what it tells of.
    pub(crate) fn revision(&self) -> watch::Receiver<i64> {
        self.revision.subscribe()
    }

    /// The account behind a token.
    pub(crate) async fn caller(&self, text: Option<&str>) -> Result<Arc<Caller>, Error> {
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
            None => self.look_up(hash, forgotten).await?,
        };
        caller.ok_or_else(|| Refusal::TokenInvalid.into())
    }

    async fn look_up(&self, hash: TokenHash, forgotten: u64) -> Result<Option<Arc<Caller>>, Error> {
        let caller = match self.store.token_account(&hash).await? {
            Some(account) => self.customer(account).await?,
            None => None,
        };
        let caller = caller.map(|customer| {
            Arc::new(Caller {
                customer: Arc::new(customer),
            })
        });
        let mut known = self.known();
        if known.forgotten == forgotten {
            if known.tokens.len() >= MOST_TOKENS {
                known.tokens.clear();
            }
            known.tokens.insert(hash, caller.clone());
        }
        Ok(caller)
    }

    async fn customer(&self, id: AccountId) -> Result<Option<Customer>, store::Error> {
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

    /// Forgets everything whenever the revision has changed. Runs until the engine ends.
    pub(crate) async fn follow(self: Arc<Self>) {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        loop {
            looks.tick().await;
            match self.store.revision().await {
                Ok(revision) if revision == *self.revision.borrow() => {}
                Ok(revision) => {
                    self.forget();
                    self.revision.send_replace(revision);
                }
                Err(error) => {
                    tracing::warn!(%error, "the revision of accounts cannot be read");
                    // What is remembered may be out of date: better slow than wrong.
                    self.forget();
                }
            }
        }
    }

    fn forget(&self) {
        let mut known = self.known();
        known.tokens.clear();
        known.forgotten += 1;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
