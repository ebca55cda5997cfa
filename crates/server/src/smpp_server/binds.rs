//! The check of a bind.

use super::{measures, refusals};
use engine::{BindRefusal, SmppBind, SmppEntrance};
use smpp::{Bind, CommandStatus};
use std::net::IpAddr;

/// Checks the credentials of a bind, and logs a refusal.
pub(super) async fn check(
    entrance: SmppEntrance,
    fields: Bind,
    client: IpAddr,
) -> Result<SmppBind, CommandStatus> {
    let (id, secret) = (&*fields.system_id, &*fields.password);
    entrance.bind(id, secret, client).await.map_err(|refusal| {
        log_bind_refusal(id, client, &refusal);
        refusals::status_of_bind(&refusal)
    })
}

/// Logs a refused bind. A system id of no user may be anything, so it is not logged.
fn log_bind_refusal(system_id: &str, client: IpAddr, refusal: &BindRefusal) {
    let is_known = matches!(
        refusal,
        BindRefusal::Password | BindRefusal::Address | BindRefusal::TooMany | BindRefusal::Account
    );
    tracing::warn!(
        smpp.system_id = is_known.then_some(system_id),
        client.address = %client,
        reason = %refusal,
        "SMPP bind: refused"
    );
    measures::bind_refused(refusal);
}
