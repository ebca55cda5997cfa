//! The choice of connections for submits, and the claim of what goes out on them.

use super::completed::Completed;
use super::transport::{BoundSession, LinkId};
use crate::context::{Context, FAILURE_PAUSE};
use database::Outage;
use std::sync::Arc;
use store::Claim;

/// Claims, of all carriers.
static CLAIMS: Outage = Outage::of("batches cannot be claimed");

/// A connection that takes submits.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Open {
    pub(crate) is_silent: bool,
    /// Free places in its window.
    pub(crate) places: usize,
    pub(crate) link: LinkId,
}

impl Open {
    /// A connection with a window of so many places; `None` for the sandbox, which has no window.
    pub(crate) fn new(link: LinkId, session: &BoundSession, window: Option<usize>) -> Self {
        Self {
            is_silent: session.is_silent(),
            places: window.map_or(usize::MAX, |window| window.saturating_sub(session.load())),
            link,
        }
    }
}

/// The connections that are given submits, the fullest first: the others take what it has no place for. One that may be
/// dead is given none while there are others. Alone, it is given submits.
pub(crate) fn in_turn(mut links: Vec<Open>) -> Vec<Open> {
    let one_is_heard = links.iter().any(|one| !one.is_silent);
    links.retain(|one| !one.is_silent || !one_is_heard);
    links.sort_unstable();
    links
}

/// Claims batches of a carrier. After a failure it pauses.
pub(crate) async fn claim(context: Arc<Context>, claim: Claim, asked: usize) -> Completed {
    match context.store.claim(claim).await {
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
    fn a_silent_connection_gets_nothing_while_another_is_heard() {
        let open = |is_silent, places, link| Open {
            is_silent,
            places,
            link,
        };
        let (silent, full, free) = (open(true, 0, 1), open(false, 2, 2), open(false, 90, 3));
        assert_eq!(in_turn(vec![free, silent, full]), [full, free]);
        assert_eq!(in_turn(vec![silent]), [silent]);
    }
}
