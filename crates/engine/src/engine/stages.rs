//! The first check of a request: token or session, account status, rate limit, and for a send the
//! capacity of the accept queue. The order is that of docs/spec/interface.md, section 4.

use super::customer_queries::CustomerQueries;
use super::installation::Installation;
use crate::accept::AcceptQueue;
use crate::admit::admission::Guards;
use crate::admit::bound_users::BoundUsers;
use crate::admit::callers::{Caller, Callers};
use crate::admit::keys::KeysInUse;
use crate::admit::rate::Rates;
use crate::context::Context;
use crate::error::{Error, within};
use crate::queries::overviews::Overviews;
use crate::sessions::hashing::Hashing;
use domain::rate::{Rate, RateKey, RateKind};
use domain::token::Scopes;
use domain::{AccountId, Environment, Refusal};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The id of a token in the requests of the console.
const CONSOLE: &str = "console";

/// The caller of an admitted request, and the rate limit after it.
pub(super) type Admitted = (Arc<Caller>, Rate);

/// The credentials of a request: its token and the address of its client.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    /// The token, if the request has one.
    pub token: Option<&'a str>,
    /// The address of the client.
    pub client: IpAddr,
    /// The scopes that permit the request. The token has one of them.
    pub permitting: Scopes,
}

/// The purpose of a request. Each purpose has a rate limit of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// The request sends a message.
    Send,
    /// The request asks for the price of a send. It counts as a read.
    Quote,
    /// The request reads a delivery report.
    Report,
    /// The request reads anything else.
    Read,
}

/// A request that was not admitted.
#[derive(Debug)]
pub struct NotAdmitted {
    /// The reason.
    pub error: Error,
    /// The caller, if the token is known.
    pub caller: Option<Arc<Caller>>,
    /// The rate limit, if the request was counted.
    pub rate: Option<Rate>,
}

/// The components that a request passes on its way to the database.
pub(super) struct Stages {
    pub(super) context: Arc<Context>,
    pub(super) callers: Arc<Callers>,
    pub(super) bound: Arc<BoundUsers>,
    pub(super) rates: Arc<Rates>,
    pub(super) guards: Guards,
    pub(super) keys: KeysInUse,
    pub(super) queue: AcceptQueue,
    pub(super) hashing: Arc<Hashing>,
    pub(super) overviews: Arc<Overviews>,
    pub(super) is_open: AtomicBool,
}

impl Stages {
    /// Admits a request, and counts it against the rate limit of its purpose.
    pub(super) async fn admit(
        &self,
        credentials: Credentials<'_>,
        environment: Environment,
        purpose: Purpose,
    ) -> Result<Admitted, NotAdmitted> {
        let caller = self.caller(credentials).await?;
        let in_scope = caller.terms().check_scope(credentials.permitting);
        in_scope.map_err(|refusal| NotAdmitted {
            error: refusal.into(),
            caller: Some(Arc::clone(&caller)),
            rate: None,
        })?;
        self.admit_caller(caller, environment, purpose).await
    }

    /// Admits a user of the console, who is signed in, in place of a token.
    pub(super) async fn admit_member(
        &self,
        account: AccountId,
        environment: Environment,
        purpose: Purpose,
    ) -> Result<Admitted, NotAdmitted> {
        let refused = |error| NotAdmitted {
            error,
            caller: None,
            rate: None,
        };
        let found = within(self.callers.member(account, CONSOLE)).await;
        let caller = found
            .and_then(|caller| caller.ok_or(Refusal::TokenInvalid.into()))
            .map_err(refused)?;
        self.admit_caller(Arc::new(caller), environment, purpose)
            .await
    }

    /// Returns the queries of an account.
    pub(super) fn queries(&self, account: AccountId, environment: Environment) -> CustomerQueries {
        CustomerQueries {
            context: Arc::clone(&self.context),
            live: self.context.live.load_full(),
            overviews: Arc::clone(&self.overviews),
            account,
            environment,
        }
    }

    /// Returns the state of the installation.
    pub(super) fn installation(&self) -> Installation {
        Installation {
            context: Arc::clone(&self.context),
            live: self.context.live.load_full(),
            overviews: Arc::clone(&self.overviews),
        }
    }

    async fn admit_caller(
        &self,
        caller: Arc<Caller>,
        environment: Environment,
        purpose: Purpose,
    ) -> Result<Admitted, NotAdmitted> {
        let counted = self.count(&caller, environment, purpose).await;
        let mut rate = counted.map_err(|error| NotAdmitted {
            error,
            caller: Some(Arc::clone(&caller)),
            rate: None,
        })?;
        let account = &caller.customer.account;
        let allowed = match purpose {
            Purpose::Send | Purpose::Quote => caller.customer.check_send(environment),
            Purpose::Report | Purpose::Read => account.check_read(environment),
        };
        let too_many = rate.refused.take().map_or(Ok(()), Err);
        let capacity = || match purpose {
            Purpose::Send => self.queue.check_capacity(),
            Purpose::Quote | Purpose::Report | Purpose::Read => Ok(()),
        };
        match allowed.and(too_many).and_then(|()| capacity()) {
            Ok(()) => Ok((caller, rate)),
            Err(refusal) => Err(NotAdmitted {
                error: refusal.into(),
                caller: Some(caller),
                rate: Some(rate),
            }),
        }
    }

    /// Returns the account of a token. A refusal also names the account for the log, if the token
    /// belongs to one.
    async fn caller(&self, credentials: Credentials<'_>) -> Result<Arc<Caller>, NotAdmitted> {
        let Credentials { token, client, .. } = credentials;
        let now_ms = self.context.clock.now_ms();
        let found = within(self.callers.caller(token, client, now_ms)).await;
        found.map_err(|error| NotAdmitted {
            error,
            caller: token.and_then(|token| self.callers.remembered(token)),
            rate: None,
        })
    }

    async fn count(
        &self,
        caller: &Caller,
        environment: Environment,
        purpose: Purpose,
    ) -> Result<Rate, Error> {
        let limits = self.context.live().limits;
        let (kind, limit) = match purpose {
            Purpose::Send => (RateKind::Send, limits.sends_per_minute),
            Purpose::Report => (RateKind::Report, limits.reports_per_minute),
            Purpose::Quote | Purpose::Read => (RateKind::Read, limits.reads_per_minute),
        };
        let key = RateKey {
            account: caller.customer.account.id,
            environment,
            kind,
            token: None,
        };
        let clock = &self.context.clock;
        let Some((token, per_minute)) = caller.rate() else {
            return within(self.rates.count(key, limit, clock)).await;
        };
        let of_token = RateKey {
            environment: Environment::Live,
            kind: RateKind::Token,
            token: Some(token),
            ..key
        };
        let rate = within(self.rates.count(of_token, per_minute, clock)).await?;
        if rate.refused.is_some() {
            return Ok(rate);
        }
        let of_account = within(self.rates.count(key, limit, clock)).await?;
        Ok(of_account.tighter(rate))
    }
}
