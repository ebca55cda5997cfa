//! Refused requests on their way to the request log of their account. Recording never waits, so a
//! request that comes too soon after many others is left out.

use crate::context::clock::Clock;
use domain::AccountId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;
use store::RefusedRequest;

/// Maximum number of requests that wait for their commit. Further ones are left out.
const MAX_WAITING: usize = 1_000;
/// Maximum number of requests of an account in a minute. Further ones are left out.
const MAX_PER_MINUTE: u32 = 20;
const MINUTE_MS: i64 = 60_000;

#[derive(Default)]
struct Recorded {
    /// The current minute.
    minute: i64,
    /// The recorded requests of the minute.
    counts: HashMap<AccountId, u32>,
    waiting: Vec<RefusedRequest>,
}

impl Recorded {
    fn add(&mut self, account: AccountId, at_ms: i64, request: impl FnOnce(i64) -> RefusedRequest) {
        let minute = at_ms.div_euclid(MINUTE_MS);
        if minute != self.minute {
            self.minute = minute;
            self.counts.clear();
        }
        let count = self.counts.entry(account).or_default();
        *count = count.saturating_add(1);
        if *count <= MAX_PER_MINUTE && self.waiting.len() < MAX_WAITING {
            self.waiting.push(request(at_ms));
        }
    }
}

/// The log of refused requests. A clone records into the same log.
#[derive(Clone)]
pub struct RequestLog {
    clock: Clock,
    recorded: Arc<Mutex<Recorded>>,
}

impl RequestLog {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            recorded: Arc::default(),
        }
    }

    /// Records the request that `request` returns for the time of now, in Unix milliseconds. If there
    /// are too many, the request is left out, and `request` is not called.
    pub fn record(&self, account: AccountId, request: impl FnOnce(i64) -> RefusedRequest) {
        let at_ms = self.clock.now_ms();
        self.recorded.lock().add(account, at_ms, request);
    }

    /// Takes the requests that wait for their commit.
    pub(crate) fn take(&self) -> Vec<RefusedRequest> {
        take(&mut self.recorded.lock().waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(recorded: &mut Recorded, account: i64, at_ms: i64) {
        let account = AccountId(account);
        recorded.add(account, at_ms, |at_ms| RefusedRequest {
            account,
            at_ms,
            request_id: String::new(),
            token_id: String::new(),
            method: String::new(),
            route: String::new(),
            status: 422,
            code: String::new(),
            message: String::new(),
            took_ms: 0,
        });
    }

    #[test]
    fn an_account_has_so_many_requests_in_each_minute() {
        let mut recorded = Recorded::default();
        let mut kept = |account, at_ms| {
            for _ in 0..MAX_PER_MINUTE + 5 {
                add(&mut recorded, account, at_ms);
            }
            take(&mut recorded.waiting).len()
        };
        let most = MAX_PER_MINUTE as usize;
        assert_eq!(kept(1, 0), most);
        assert_eq!(kept(2, MINUTE_MS - 1), most);
        assert_eq!(kept(1, MINUTE_MS - 1), 0);
        assert_eq!(kept(1, MINUTE_MS), most);
    }

    #[test]
    fn so_many_requests_wait_for_their_commit() {
        let mut recorded = Recorded::default();
        for account in 0..2_000 {
            add(&mut recorded, account, 0);
        }
        assert_eq!(recorded.waiting.len(), MAX_WAITING);
    }
}
