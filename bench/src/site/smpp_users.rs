//! SMPP users of the customer.

use super::Site;
use anyhow::{Context, Result};

/// The credentials of an SMPP user.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    pub(crate) system_id: String,
    pub(crate) password: String,
}

/// Makes an SMPP user of the customer, with these limits.
pub(crate) fn make(site: &Site, binds: u32, per_second: u32, window: usize) -> Result<Credentials> {
    let (binds, per_second) = (binds.to_string(), per_second.to_string());
    let made = site.ogene(&[
        "smpp-user",
        "create",
        "--account",
        &site.account,
        "--binds",
        &binds,
        "--per-second",
        &per_second,
        "--window",
        &window.to_string(),
    ])?;
    let text = |name: &str| {
        let text = made[name].as_str();
        text.map(str::to_owned)
            .with_context(|| format!("no {name} of an SMPP user"))
    };
    Ok(Credentials {
        system_id: text("system_id")?,
        password: text("password")?,
    })
}

/// Returns the number of receipts that wait for an SMPP user.
pub(crate) fn receipts_waiting(site: &Site, user: &Credentials) -> Result<u64> {
    let show = ["smpp-user", "show", "--system-id", &user.system_id];
    let shown = site.ogene(&show)?;
    let waiting = shown["receipts_waiting"].as_u64();
    waiting.with_context(|| format!("no receipts_waiting in {shown}"))
}
