//! What a message costs when more and more accounts send by turns.

use super::close;
use super::curve::{self, Point};
use crate::callbacks::Callbacks;
use crate::copies;
use crate::figures::Figures;
use crate::site::{Setup, Site};
use anyhow::Result;

const POINTS: [u64; 3] = [1, 100, 10_000];
/// Enough that each account is known before anything is measured.
const WARM_UP: u64 = 10_000;
const MESSAGES: u64 = 20_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let mut figures = Figures::default();
    let mut points = Vec::new();
    for accounts in POINTS {
        let messages = if quick { MESSAGES / 10 } else { MESSAGES };
        let point = at(&mut figures, setup, accounts, messages).await?;
        points.push((accounts, point));
    }
    curve::show(&mut figures, &points);
    Ok(figures)
}

async fn at(figures: &mut Figures, setup: &Setup, accounts: u64, messages: u64) -> Result<Point> {
    let mut site = Site::prepare(setup)?;
    copies::make_accounts(&mut site, accounts)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    curve::measure(&site, &callbacks, 0..WARM_UP).await?;
    let all = WARM_UP + messages;
    let point = curve::measure(&site, &callbacks, WARM_UP..all).await?;
    close(figures, site, all, all).await?;
    Ok(point)
}
