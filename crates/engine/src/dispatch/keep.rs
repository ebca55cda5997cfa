//! The commit of inbound pages, and the answers to their carrier afterwards.

use super::completed::Completed;
use super::inbound::{InboundAnswers, PageToAnswer};
use crate::context::{Context, FAILURE_PAUSE};
use database::Outage;
use smpp::CommandStatus;
use std::sync::Arc;
use store::KeptPages;

/// Outage of the commits of inbound pages, over all carriers.
static PAGES: Outage = Outage::of("inbound messages cannot be kept, retrying");

/// Commits pages, and retries until the database takes them. A page that the database refuses alone
/// is answered with a temporary error, so that it stays with its carrier.
pub(crate) async fn keep(
    context: Arc<Context>,
    kept: KeptPages,
    requests: Vec<PageToAnswer>,
) -> Completed {
    let statuses = match commit(&context, kept.clone()).await {
        Ok(()) => vec![CommandStatus::ROK; requests.len()],
        Err(_) => one_by_one(&context, kept).await,
    };
    context.inbound.notify_one();
    let mut answers = InboundAnswers::new();
    for (request, status) in requests.into_iter().zip(statuses) {
        if let Some(session) = request.session {
            answers.push((session, vec![(request.sequence, status)]));
        }
    }
    Completed::InboundKept { answers }
}

async fn one_by_one(context: &Arc<Context>, kept: KeptPages) -> Vec<CommandStatus> {
    let mut statuses = Vec::with_capacity(kept.pages.len());
    for page in kept.pages {
        let carrier = page.carrier.clone();
        let alone = KeptPages {
            pages: vec![page],
            ended: kept.ended.clone(),
            bound: kept.bound.clone(),
        };
        statuses.push(match commit(context, alone).await {
            Ok(()) => CommandStatus::ROK,
            Err(error) => {
                tracing::error!(
                    carrier.name = carrier, %error,
                    "inbound message: page refused by the database, left with its carrier, see the error for the repair"
                );
                CommandStatus::RX_T_APPN
            }
        });
    }
    statuses
}

/// Commits pages. While the database is unavailable it retries.
async fn commit(context: &Arc<Context>, kept: KeptPages) -> database::Result<()> {
    loop {
        let pages = context.store.inbound_pages();
        let committed = pages.keep(context.node, kept.clone()).await;
        match committed {
            Err(error) if error.is_unavailable() || error.is_unknown() => {
                PAGES.failed(&error);
                tokio::time::sleep(FAILURE_PAUSE).await;
            }
            Err(error) => return Err(error),
            Ok(_) => {
                PAGES.worked();
                return Ok(());
            }
        }
    }
}
