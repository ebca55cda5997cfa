//! The end of each scenario: the figures of its cost, and the checks that nothing was lost.

use crate::clients::Receipts;
use crate::figures::{Figures, float};
use crate::process::Usage;
use crate::site::Site;
use crate::site::smpp_users::{Credentials, receipts_waiting};
use anyhow::{Result, bail};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Time that the rest of a load may take after its last request.
pub(crate) const SETTLE_TIMEOUT: Duration = Duration::from_mins(3);
/// Interval at which the receipts that wait are counted.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// One million: a count, or bytes.
pub(super) const MILLION: f64 = 1e6;

/// Sets the CPU time and the written bytes of a recipient between two moments.
pub(crate) fn spent(figures: &mut Figures, before: &Usage, after: &Usage, recipients: u64) {
    let thousands = float(recipients) / 1e3;
    figures.set("cpu_s_per_1000", (after.cpu_s - before.cpu_s) / thousands);
    let written = after.written_bytes - before.written_bytes;
    figures.set("written_bytes_per_recipient", written / float(recipients));
    figures.set("peak_mb", after.peak_resident_bytes / MILLION);
}

/// Checks that each of so many messages by SMPP has one receipt, and that none waits. The commits of
/// the last answers take a moment.
pub(super) async fn receipts_are_whole(
    figures: &mut Figures,
    site: &Site,
    users: &[Credentials],
    receipts: &Receipts,
    messages: u64,
) -> Result<()> {
    let count = receipts.count();
    figures.expect("receipts", messages, count.all);
    figures.expect("recipients with a receipt", messages, count.recipients);
    figures.expect("receipts of a delivery", messages, count.delivered);
    let began = Instant::now();
    for user in users {
        while receipts_waiting(site, user)? > 0 {
            if began.elapsed() > SETTLE_TIMEOUT {
                bail!("receipts wait that were answered");
            }
            sleep(LOOK_INTERVAL).await;
        }
    }
    Ok(())
}

/// Waits until all recipients are settled, and then does the same as [`finish`].
pub(super) async fn close(
    figures: &mut Figures,
    site: Site,
    messages: u64,
    recipients: u64,
) -> Result<()> {
    site.wait_for("ogene_settled_total", recipients, SETTLE_TIMEOUT)
        .await?;
    finish(figures, site, messages, recipients, 0).await
}

/// Stops all processes. Checks that each message went to the SMSC once, that its receipt was
/// settled, and that the ledger is right. The ledger includes messages of one recipient that were
/// copied into the database.
pub(super) async fn finish(
    figures: &mut Figures,
    mut site: Site,
    messages: u64,
    recipients: u64,
    copied: u64,
) -> Result<()> {
    stop(figures, &mut site, recipients).await?;
    let recipients = recipients + copied;
    verify(figures, &site, messages + copied, recipients, recipients)
}

/// Stops all processes. Checks that the SMSC received so many recipients, each once.
pub(super) async fn stop(figures: &mut Figures, site: &mut Site, recipients: u64) -> Result<()> {
    let stop = site.stop_service().await?;
    figures.set("stop_s", stop.as_secs_f64());
    let carrier = site.stop_smsc().await?;
    for figure in ["submits", "accepted", "answered"] {
        let found = carrier[figure].as_u64().unwrap_or(0);
        figures.expect(&format!("{figure} of the SMSC"), recipients, found);
    }
    Ok(())
}

/// Runs `ogene verify`, and checks its counts.
pub(super) fn verify(
    figures: &mut Figures,
    site: &Site,
    messages: u64,
    recipients: u64,
    deliveries: u64,
) -> Result<()> {
    sizes(figures, site, recipients)?;
    let report = site.ogene(&["verify"])?;
    let count = |name: &str| report[name].as_u64().unwrap_or(0);
    figures.expect("messages in the database", messages, count("messages"));
    figures.expect(
        "deliveries in the database",
        deliveries,
        count("deliveries"),
    );
    Ok(())
}

/// The tables that grow with every message. Rows of the other tables are removed: when they are
/// done, when a duplicate window ends, or after 8 days (ids of carriers). New rows fill their
/// space.
const LASTING: [&str; 3] = ["messages", "deliveries", "ledger"];

/// Sets the bytes per recipient: the database, each table, and the tables that grow with every message.
fn sizes(figures: &mut Figures, site: &Site, recipients: u64) -> Result<()> {
    let each = |bytes: u64| float(bytes) / float(recipients);
    figures.set("stored_bytes_per_recipient", each(site.stored_bytes()?));
    if !site.database.is_sqlite() {
        figures.set("logged_bytes_per_recipient", each(site.logged_bytes()?));
    }
    let tables = site.database.table_bytes()?;
    let lasting = LASTING.iter().filter_map(|table| tables.get(*table)).sum();
    figures.set("lasting_bytes_per_recipient", each(lasting));
    for (table, bytes) in tables {
        if bytes >= recipients {
            let name = format!("stored_bytes_of_{table}_per_recipient");
            figures.set(&name, each(bytes));
        }
    }
    Ok(())
}
