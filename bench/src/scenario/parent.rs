//! Single messages of a sub-account, as a share of the rate of its parent, which has no parent
//! itself. Both take turns on the same service. The sub-account pays a naira more for a page, so
//! each of its messages also pays a margin to the parent.

use super::checks::close;
use super::turns;
use crate::callbacks::Callbacks;
use crate::figures::Figures;
use crate::load::Request;
use crate::site::{Setup, Site, text};
use anyhow::Result;

/// The price of the sub-account. That of the parent is 6.00.
const PRICE: &str = "direct-refund=7.00";
/// Credit that suffices for all messages.
const CREDIT: &str = "10000000.00";

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let mut site = Site::prepare(setup)?;
    let token = make_sub_account(&site)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let parent = Request::new(&site, 1, Some(&callbacks.url()));
    let of_parent = std::mem::replace(&mut site.tokens, vec![token]);
    let sub_account = Request::new(&site, 1, Some(&callbacks.url()));
    site.tokens = of_parent;
    let load = (setup.connections, quick);
    let rates = turns::take(&site, &callbacks, &[parent, sub_account], load).await?;
    let (mut figures, sent) = (Figures::default(), rates.sent);
    rates.show(&mut figures, "share_of_rate_without_parent", "sub_account");
    close(&mut figures, site, sent, sent).await?;
    Ok(figures)
}

/// Makes a sub-account of the customer that can send. Returns its token.
fn make_sub_account(site: &Site) -> Result<String> {
    let contact = ["--name", "Reseller", "--email", "reseller@example.ng"];
    let create = ["sub-account", "create", "--account", &site.account];
    let made = site.ogene(&[&create[..], &contact].concat())?;
    let (id, token) = (text(&made, "sub_account_id")?, text(&made, "token")?);
    let id = ["--sub-account", &id];
    site.ogene(&[&["sub-account", "change", "--price", PRICE], &id[..]].concat())?;
    let transfer = ["sub-account", "transfer", "--amount", CREDIT];
    let more = ["--direction", "to_sub", "--reference", "bench"];
    site.ogene(&[&transfer, &more[..], &id].concat())?;
    site.make_sender(id[1])?;
    Ok(token)
}
