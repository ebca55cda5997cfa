//! The operations of a request that was admitted.

use super::customer_queries::CustomerQueries;
use super::report::{self, DeliveryReport};
use super::request::{Drafted, Quoted, SendRequest};
use super::stages::{Admitted, NotAdmitted, Purpose, Stages};
use crate::accept::keyed::{Begun, PendingKey};
use crate::accept::{Answered, Keyed};
use crate::admit::callers::Caller;
use crate::admit::keys::KeyClaim;
use crate::admit::left_out::Checked;
use crate::admit::sandbox as simulated;
use crate::context::Context;
use crate::context::live::Live;
use crate::error::{Error, within};
use crate::sessions::hashing::Hashing;
use domain::idempotency::{self, Decision, IdempotencyKey, RequestFingerprint};
use domain::rate::Rate;
use domain::resale::Resale;
use domain::{AccountId, Customer, Environment, Purse, Refusal};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::{By, KeyedRequest, StoredAnswer};

/// A request that was admitted: its caller is known, allowed to make it, and within the rate limit.
pub struct Admission {
    stages: Arc<Stages>,
    caller: Arc<Caller>,
    environment: Environment,
    rate: Rate,
}

impl Admission {
    pub(super) fn new(stages: Arc<Stages>, admitted: Admitted, environment: Environment) -> Self {
        let (caller, rate) = admitted;
        Self {
            stages,
            caller,
            environment,
            rate,
        }
    }

    /// Admits a user of the console, who is signed in.
    pub(super) async fn of_member(
        stages: &Arc<Stages>,
        account: AccountId,
        environment: Environment,
        purpose: Purpose,
    ) -> Result<Self, NotAdmitted> {
        let admitted = stages.admit_member(account, environment, purpose).await?;
        Ok(Self::new(Arc::clone(stages), admitted, environment))
    }

    /// The context of the engine.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.stages.context
    }

    /// The hashing of passwords.
    pub(super) fn hashing(&self) -> &Hashing {
        &self.stages.hashing
    }

    /// Returns the caller.
    pub fn caller(&self) -> &Arc<Caller> {
        &self.caller
    }

    /// Returns the token of the request as the author of a change.
    pub(super) fn author(&self) -> By {
        By {
            actor: format!("api:{}", self.caller.token_id).into(),
            at_ms: self.context().clock.now_ms(),
        }
    }

    /// Returns the account with its sender IDs.
    pub fn customer(&self) -> &Customer {
        &self.caller.customer
    }

    /// Returns the environment: live or sandbox.
    pub fn environment(&self) -> Environment {
        self.environment
    }

    /// Returns the rate limit after this request.
    pub fn rate(&self) -> &Rate {
        &self.rate
    }

    /// Accepts a send. A returned message is durable and charged. The same request with the same
    /// key is accepted once.
    pub async fn send(
        &self,
        request: SendRequest,
        keyed: Option<Keyed>,
    ) -> Result<Answered, Error> {
        let stages = &self.stages;
        if !stages.is_open.load(Ordering::Relaxed) {
            return Err(Refusal::Unavailable { retry_after_s: 5 }.into());
        }
        let live = stages.context.live.load_full();
        let Some(Keyed {
            key,
            operation,
            write,
        }) = keyed
        else {
            return self.accept(request, live, None).await;
        };
        let max_recipients = live.plan.rules.max_recipients;
        let fingerprint = request.fingerprint(operation, self.environment, max_recipients);
        // An unreadable request has no fingerprint. The checks of a send refuse it.
        let Some(fingerprint) = fingerprint else {
            self.draft(request, &live)?;
            return Err(Refusal::Malformed("The request could not be read.".to_owned()).into());
        };
        let (request_key, claim) = self.claim(key, fingerprint)?;
        let pending = PendingKey {
            request: request_key,
            write,
            _claim: claim,
        };
        Box::pin(self.accept_keyed(request, live, pending)).await
    }

    /// Claims a key for a request until the claim is dropped.
    fn claim(
        &self,
        key: IdempotencyKey,
        request: RequestFingerprint,
    ) -> Result<(KeyedRequest, KeyClaim), Refusal> {
        let account = self.caller.customer.account.id;
        let claim = self.stages.keys.claim(account, self.environment, &key)?;
        let limits = self.stages.context.live().limits;
        let keyed = KeyedRequest {
            key,
            request,
            window_ms: limits.idempotency_window_ms,
        };
        Ok((keyed, claim))
    }

    /// Begins a change with a key. The key is looked up before anything that depends on state.
    pub(super) async fn begin(
        &self,
        key: IdempotencyKey,
        request: RequestFingerprint,
    ) -> Result<Begun, Error> {
        let (keyed, claim) = self.claim(key, request)?;
        Ok(match self.replayed(&keyed).await? {
            Some(answer) => Begun::Replay(answer),
            None => Begun::New(keyed, claim),
        })
    }

    /// Accepts a send with a key. The commit looks the key up. The key is also looked up before a
    /// check that counts sends, and after a refusal.
    async fn accept_keyed(
        &self,
        request: SendRequest,
        live: Arc<Live>,
        pending: PendingKey,
    ) -> Result<Answered, Error> {
        let keyed = pending.request.clone();
        let is_counted = self.environment == Environment::Sandbox || self.stages.guards.counts();
        if is_counted && let Some(answer) = self.replayed(&keyed).await? {
            return Ok(Answered::Replay(answer));
        }
        let accepted = self.accept(request, live, Some(pending)).await;
        let Err(Error::Refused(refusal)) = &accepted else {
            return accepted;
        };
        if matches!(refusal, Refusal::OutcomeUnknown { .. } | Refusal::KeyUsed) {
            return accepted;
        }
        match self.replayed(&keyed).await {
            Ok(Some(answer)) => Ok(Answered::Replay(answer)),
            Err(used @ Error::Refused(_)) => Err(used),
            Ok(None) | Err(Error::Store(_)) => accepted,
        }
    }

    /// Returns the stored answer to the same request with the same key, if there is one.
    pub(super) async fn replayed(
        &self,
        keyed: &KeyedRequest,
    ) -> Result<Option<StoredAnswer>, Error> {
        let account = self.caller.customer.account.id;
        let context = &self.stages.context;
        let kept = Box::pin(context.store.messages().kept_answer(
            account,
            self.environment,
            &keyed.key,
        ));
        let Some(kept) = within(async { Ok(kept.await?) }).await? else {
            return Ok(None);
        };
        let now_ms = context.clock.now_ms();
        match idempotency::decide(kept.state(), keyed.request, now_ms, keyed.window_ms)? {
            Decision::Replay => Ok(Some(kept.answer)),
            Decision::Handle => Ok(None),
        }
    }

    async fn accept(
        &self,
        request: SendRequest,
        live: Arc<Live>,
        key: Option<PendingKey>,
    ) -> Result<Answered, Error> {
        let stages = &self.stages;
        let is_answer = request.is_answer();
        let mut drafted = self.draft(request, &live)?;
        if !is_answer {
            drafted = self.without_unwanted(drafted, &live).await?;
        }
        let draft = drafted.into_draft();
        simulated::steer(&draft, live.limits.sends_per_minute)?;
        let (limits, clock) = (live.limits.sandbox, &stages.context.clock);
        within(simulated::count(&draft, limits, &stages.rates, clock)).await?;
        let counted = stages.guards.count(&draft).await?;
        stages.queue.send(draft, live, counted, key).await
    }

    /// Checks a send, and returns its draft.
    fn draft(&self, request: SendRequest, live: &Live) -> Result<Drafted, Refusal> {
        request.draft(
            &self.caller.customer,
            self.environment,
            &live.plan.rules,
            &self.stages.guards.prohibited(),
            self.stages.context.clock.now_ms(),
        )
    }

    /// Leaves out the recipients who opted out or are on DND, if the gateway respects that.
    async fn without_unwanted(&self, mut drafted: Drafted, live: &Live) -> Result<Drafted, Error> {
        let (gateway, sender) = drafted.route();
        let check = Checked {
            caller: &self.caller,
            environment: self.environment,
            gateway,
            sender,
        };
        if check.is_needed(&live.plan.rules) {
            let store = &self.stages.context.store;
            // The future is boxed because most sends do not need it.
            let unwanted =
                Box::pin(check.unwanted((store, &live.plan.rules), drafted.recipients())).await?;
            drafted.leave_out(&unwanted)?;
        }
        Ok(drafted)
    }

    /// Returns the price of a send and the balance of the wallet. Nothing is sent, charged or
    /// recorded. The refusals are those of a send, except for a low balance and a duplicate.
    pub async fn quote(&self, request: SendRequest) -> Result<Quoted, Error> {
        let live = self.stages.context.live.load_full();
        let now_ms = self.stages.context.clock.now_ms();
        let body = request.body();
        let drafted = self.draft(request, &live)?;
        let drafted = self.without_unwanted(drafted, &live).await?;
        let (draft, quote) = drafted.into_quote(body.as_deref(), &live.plan.rules);
        match simulated::steer(&draft, live.limits.reads_per_minute) {
            Ok(()) | Err(Refusal::InsufficientFunds { .. }) => {}
            Err(refusal) => return Err(refusal.into()),
        }
        simulated::check_size(&draft, live.limits.sandbox)?;
        self.stages.guards.check(&draft)?;
        let (purse, spending) = self.queries().wallet().await?;
        if let Some(mut spending) = spending {
            let spent = spending.spend(draft.cost, now_ms);
            spent.map_err(|refusal| match draft.parent {
                Some(_) => Resale::refusal(refusal),
                None => refusal,
            })?;
        }
        Ok(Quoted {
            quote,
            balance: purse.total(),
            held_until_ms: live.plan.held_until(&draft, now_ms),
        })
    }

    /// Returns the wallet. The sandbox has a simulated one.
    pub async fn balance(&self) -> Result<Purse, Error> {
        self.queries().balance().await
    }

    /// Returns one page of a message's delivery report.
    pub async fn report(
        &self,
        message_id: &str,
        page: u32,
        per_page: u32,
    ) -> Result<DeliveryReport, Error> {
        let account = self.caller.customer.account.id;
        within(report::report(
            &self.stages.context.store,
            account,
            self.environment,
            message_id,
            (page, per_page),
            self.stages.context.clock.now_ms(),
        ))
        .await
    }

    /// Returns the caller's queries for messages.
    pub fn queries(&self) -> CustomerQueries {
        let account = self.caller.customer.account.id;
        self.stages.queries(account, self.environment)
    }
}
