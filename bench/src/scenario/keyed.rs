//! Single messages whose requests have an `Idempotency-Key`, as a share of the rate without one.
//! Both take turns on the same service.

use super::checks::close;
use super::turns;
use crate::callbacks::Callbacks;
use crate::figures::Figures;
use crate::load::Request;
use crate::site::{Setup, Site};
use anyhow::Result;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let mut site = Site::prepare(setup)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let callback = format!(r#","callback_url":"{}""#, callbacks.url());
    let requests = [
        Request::with(&site, 1, &callback),
        Request::keyed(&site, 1, &callback),
    ];
    let load = (setup.connections, quick);
    let rates = turns::take(&site, &callbacks, &requests, load).await?;
    let (mut figures, sent) = (Figures::default(), rates.sent);
    rates.show(&mut figures, "share_of_rate_without_key", "keyed");
    close(&mut figures, site, sent, sent).await?;
    Ok(figures)
}
