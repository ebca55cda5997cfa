//! The SMPP users that are bound to this node.
//!
//! All connections of a user share its row, its account and its pace. A task reads them again when
//! the revision of the database shows a change of the account or of its parent. So a revoked user is
//! unbound within a second on every node.

use super::callers::{Caller, Callers};
use crate::error::{Error, within};
use arc_swap::ArcSwapOption;
use database::Outage;
use domain::smpp_user::{PasswordDigest, RequestPace, SmppUser};
use domain::token_guesses::Guesses;
use domain::{AccountId, Environment, NodeId};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use store::{Revision, Store};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, SemaphorePermit, watch};
use tokio::time::timeout;

/// Pause after the database could not be read.
const RETRY_PAUSE: Duration = Duration::from_millis(250);
/// Period of the publication of bound users.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(1);
/// Longest wait of an address that has guessed too often for the check of its credentials.
const SUSPECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A user with its account, as last read.
pub(crate) struct Current {
    pub(crate) user: Arc<SmppUser>,
    pub(crate) caller: Arc<Caller>,
}

impl Current {
    /// Returns the environment of the user's messages.
    pub(crate) fn environment(&self) -> Environment {
        self.user.environment()
    }
}

/// The pace of a user, over all its connections.
#[derive(Clone, Copy, Default)]
struct Paces {
    submits: RequestPace,
    /// The pace of queries and cancels.
    others: RequestPace,
}

impl Paces {
    fn is_idle(&self, steady_ms: i64) -> bool {
        self.submits.is_idle(steady_ms) && self.others.is_idle(steady_ms)
    }
}

#[derive(Default)]
struct Use {
    /// Number of connections.
    binds: u32,
    paces: Paces,
    /// The submits whose responses are not written yet: the time of each, Unix milliseconds, and a
    /// number.
    open: BTreeSet<(i64, u64)>,
    opened: u64,
}

/// A submit until its response is written. No receipt may overtake the response.
pub struct OpenSubmit {
    bound: Arc<Bound>,
    key: (i64, u64),
}

impl Drop for OpenSubmit {
    fn drop(&mut self) {
        self.bound.state.lock().open.remove(&self.key);
    }
}

/// A bound user.
pub(crate) struct Bound {
    system_id: String,
    /// `None` once the user may not be bound any more.
    current: ArcSwapOption<Current>,
    ended: watch::Sender<bool>,
    /// Held while the user is read, so that an older reading never replaces a newer one.
    reading: AsyncMutex<()>,
    state: Mutex<Use>,
}

impl Bound {
    fn new(system_id: String) -> Self {
        Self {
            system_id,
            current: ArcSwapOption::empty(),
            ended: watch::Sender::new(false),
            reading: AsyncMutex::default(),
            state: Mutex::default(),
        }
    }

    pub(crate) fn system_id(&self) -> &str {
        &self.system_id
    }

    /// Returns the user with its account, or `None` if it may not be bound any more.
    pub(crate) fn current(&self) -> Option<Arc<Current>> {
        self.current.load_full()
    }

    /// Waits until the user may not be bound any more.
    pub(crate) async fn ended(&self) {
        // The sender is a field of this value.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// Counts a submit to so many numbers. Returns `false` if the user is too fast.
    pub(crate) fn admit_submit(&self, numbers: u32, per_second: u32, steady_ms: i64) -> bool {
        let mut state = self.state.lock();
        let submits = &mut state.paces.submits;
        submits.admit_many(numbers, per_second, steady_ms)
    }

    /// Counts a query or cancel. Returns `false` if the user is too fast.
    pub(crate) fn admit_other(&self, per_second: u32, steady_ms: i64) -> bool {
        let mut state = self.state.lock();
        state.paces.others.admit(per_second, steady_ms)
    }

    /// Notes a submit that begins now.
    pub(crate) fn open_submit(self: &Arc<Self>, now_ms: i64) -> OpenSubmit {
        let mut state = self.state.lock();
        state.opened += 1;
        let key = (now_ms, state.opened);
        state.open.insert(key);
        drop(state);
        let bound = Arc::clone(self);
        OpenSubmit { bound, key }
    }

    /// Returns the time of the oldest submit whose response is not written yet, Unix milliseconds.
    pub(crate) fn oldest_submit_ms(&self) -> Option<i64> {
        let state = self.state.lock();
        state.open.first().map(|(at_ms, _)| *at_ms)
    }

    fn set(&self, current: Option<Current>) {
        let is_ended = current.is_none();
        self.current.store(current.map(Arc::new));
        self.ended.send_if_modified(|ended| {
            let was_ended = std::mem::replace(ended, is_ended);
            was_ended != is_ended
        });
    }
}

/// A password that was right.
struct Verified {
    hash: String,
    digest: PasswordDigest,
}

/// The users that are bound to this node.
pub(crate) struct BoundUsers {
    store: Store,
    callers: Arc<Callers>,
    known: Mutex<HashMap<String, Arc<Bound>>>,
    /// The paces of users whose last connection ended less than a second ago, by system id. So a user
    /// that binds again has no new allowance.
    left: Mutex<HashMap<String, Paces>>,
    /// The passwords that were right, by system id.
    verified: Mutex<HashMap<String, Verified>>,
    guesses: Mutex<Guesses>,
    /// The permit to check credentials from an address that has guessed too often.
    suspects: Semaphore,
}

impl BoundUsers {
    pub(crate) fn new(store: Store, callers: Arc<Callers>) -> Self {
        Self {
            store,
            callers,
            known: Mutex::default(),
            left: Mutex::default(),
            verified: Mutex::default(),
            guesses: Mutex::default(),
            suspects: Semaphore::new(1),
        }
    }

    /// Returns `true` if an address has tried too many wrong credentials in this minute.
    pub(crate) fn is_guessing(&self, client: IpAddr, limit: u32, now_ms: i64) -> bool {
        self.guesses.lock().is_over(client, limit, now_ms)
    }

    /// Counts wrong credentials of an address.
    pub(crate) fn guessed(&self, client: IpAddr, limit: u32, now_ms: i64) {
        self.guesses.lock().unknown(client, limit, now_ms);
    }

    /// Waits for the permit to check credentials from an address that has guessed too often. Such
    /// addresses share one, so that they do not take the processor from others.
    pub(crate) async fn suspect(&self) -> Option<SemaphorePermit<'_>> {
        let permit = timeout(SUSPECT_TIMEOUT, self.suspects.acquire());
        // The semaphore is never closed.
        permit.await.ok()?.ok()
    }

    /// Returns a valid user and the hash of its password.
    pub(crate) async fn find(&self, system_id: &str) -> Result<Option<(SmppUser, String)>, Error> {
        let found = within(async { Ok(self.store.smpp_users().find(system_id).await?) }).await?;
        Ok(found.filter(|(user, _)| user.revoked_at_ms.is_none()))
    }

    /// Returns `true` if the password was right before, with the same hash.
    pub(crate) fn was_right(&self, system_id: &str, password: &str, hash: &str) -> bool {
        let verified = self.verified.lock();
        let known = verified.get(system_id).filter(|known| known.hash == hash);
        known.is_some_and(|known| known.digest.is_of(password))
    }

    /// Remembers a right password. The users bound the number of them.
    pub(crate) fn note_right(&self, system_id: &str, password: &str, hash: String) {
        let digest = PasswordDigest::of(password);
        let verified = Verified { hash, digest };
        self.verified.lock().insert(system_id.to_owned(), verified);
    }

    /// Counts a connection of a user. Returns `None` if the user has its maximum already.
    pub(crate) fn enter(&self, user: &SmppUser, steady_ms: i64) -> Option<Arc<Bound>> {
        let mut known = self.known.lock();
        let bound = known.entry(user.system_id.clone());
        let bound = bound.or_insert_with(|| Arc::new(Bound::new(user.system_id.clone())));
        let mut state = bound.state.lock();
        if state.binds == 0 {
            state.paces = self.pace_before(&user.system_id, steady_ms);
        }
        if state.binds >= user.limits.binds {
            return None;
        }
        state.binds += 1;
        drop(state);
        Some(Arc::clone(bound))
    }

    /// Ends a connection of a user.
    pub(crate) fn leave(&self, bound: &Bound) {
        let mut known = self.known.lock();
        let mut state = bound.state.lock();
        state.binds = state.binds.saturating_sub(1);
        if state.binds == 0 {
            known.remove(&bound.system_id);
            let mut left = self.left.lock();
            left.insert(bound.system_id.clone(), state.paces);
        }
    }

    /// Returns the pace that a user had when its last connection ended. Paces that no longer count are
    /// removed, so their number is bounded.
    fn pace_before(&self, system_id: &str, steady_ms: i64) -> Paces {
        let mut left = self.left.lock();
        left.retain(|_, paces| !paces.is_idle(steady_ms));
        left.remove(system_id).unwrap_or_default()
    }

    /// Reads a user and its account again. A user of an account that may not read is ended.
    pub(crate) async fn refresh(&self, bound: &Bound) -> Result<(), Error> {
        let _turn = bound.reading.lock().await;
        let current = match self.find(&bound.system_id).await? {
            None => None,
            Some((user, _)) => {
                let via = format!("smpp:{}", user.system_id);
                let caller = within(self.callers.member(user.account, &via)).await?;
                let environment = user.environment();
                let may_read =
                    |caller: &Caller| caller.customer.account.check_read(environment).is_ok();
                let caller = caller.filter(may_read).map(Arc::new);
                let user = Arc::new(user);
                caller.map(|caller| Current { user, caller })
            }
        };
        bound.set(current);
        Ok(())
    }

    /// Follows changes of users and accounts until the engine ends.
    pub(crate) async fn follow(self: Arc<Self>) {
        let outage = Outage::of("SMPP users cannot be read");
        let mut revision = self.callers.revision();
        let mut seen = *revision.borrow_and_update();
        while revision.changed().await.is_ok() {
            let mut now = *revision.borrow_and_update();
            while outage.note(self.look(seen, now).await).is_none() {
                tokio::time::sleep(RETRY_PAUSE).await;
                now = *revision.borrow_and_update();
            }
            seen = now;
        }
    }

    /// Publishes the users that are bound to this node, for operators, until the engine ends.
    pub(crate) async fn publish(self: Arc<Self>, node: NodeId) {
        let outage = Outage::of("bound SMPP users cannot be published");
        let mut published = Vec::new();
        loop {
            let bound = self.bound();
            if published != bound {
                let publish = self.store.smpp_users().publish(node, bound.clone());
                if outage.note(publish.await).is_some() {
                    published = bound;
                }
            }
            tokio::time::sleep(PUBLISH_INTERVAL).await;
        }
    }

    /// Returns the number of connections of each user, by system id.
    fn bound(&self) -> Vec<(String, u32)> {
        let known = self.known.lock();
        let bound = known.iter().map(|(system_id, bound)| {
            let binds = bound.state.lock().binds;
            (system_id.clone(), binds)
        });
        let mut bound: Vec<(String, u32)> = bound.collect();
        bound.sort_unstable();
        bound
    }

    async fn look(&self, then: Revision, now: Revision) -> Result<(), Error> {
        let bound: Vec<Arc<Bound>> = self.known.lock().values().cloned().collect();
        if bound.is_empty() {
            return Ok(());
        }
        let changed = self.store.revisions().changed_accounts(then, now).await?;
        for bound in bound {
            if is_concerned(&bound, changed.as_ref()) {
                self.refresh(&bound).await?;
            }
        }
        Ok(())
    }
}

fn is_concerned(bound: &Bound, changed: Option<&HashSet<AccountId>>) -> bool {
    match (bound.current(), changed) {
        (Some(current), Some(changed)) => current.caller.is_concerned(changed),
        (None, _) | (_, None) => true,
    }
}

#[cfg(test)]
mod tests;
