//! The order of connections for submits, and the claim of batches.

use super::completed::Completed;
use super::transport::{BoundSession, LinkId};
use crate::context::{Context, FAILURE_PAUSE};
use database::Outage;
use std::sync::Arc;
use store::Claim;

/// Outage of claims, over all carriers.
static CLAIMS: Outage = Outage::of("batches cannot be claimed");

/// A connection that takes submits.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Open {
    pub(crate) is_silent: bool,
    /// Free slots of its in-flight window.
    pub(crate) free_window: usize,
    pub(crate) link: LinkId,
}

impl Open {
    /// Returns a connection with a window of this size. `None` is the sandbox, which has no window.
    pub(crate) fn new(link: LinkId, session: &BoundSession, window: Option<usize>) -> Self {
        Self {
            is_silent: session.is_silent(),
            free_window: window.map_or(usize::MAX, |window| window.saturating_sub(session.load())),
            link,
        }
    }
}

/// Sorts connections by free window, fullest first, so that later ones take what does not fit.
/// Silent connections are left out unless all are silent.
pub(crate) fn by_load(mut links: Vec<Open>) -> Vec<Open> {
    let one_is_alive = links.iter().any(|one| !one.is_silent);
    links.retain(|one| !one.is_silent || !one_is_alive);
    links.sort_unstable();
    links
}

/// Claims batches of a carrier. After a failure it waits.
pub(crate) async fn claim(context: Arc<Context>, claim: Claim, asked: usize) -> Completed {
    match context.store.claims().claim(claim).await {
        Ok(claimed) => {
            CLAIMS.worked();
            Completed::Claimed { asked, claimed }
        }
        Err(error) => {
            CLAIMS.failed(&error);
            tokio::time::sleep(FAILURE_PAUSE).await;
            Completed::ClaimFailed { asked }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_connection_gets_no_submits_beside_a_live_one() {
        let open = |is_silent, free_window, link| Open {
            is_silent,
            free_window,
            link,
        };
        let (silent, full, free) = (open(true, 0, 1), open(false, 2, 2), open(false, 90, 3));
        assert_eq!(by_load(vec![free, silent, full]), [full, free]);
        assert_eq!(by_load(vec![silent]), [silent]);
    }
}
