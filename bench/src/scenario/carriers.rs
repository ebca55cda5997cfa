//! What a message costs with more and more carriers, which share the numbers evenly.

use super::close;
use super::curve::{self, Point};
use crate::callbacks::Callbacks;
use crate::figures::Figures;
use crate::site::{Setup, Site};
use anyhow::Result;

const POINTS: [usize; 3] = [1, 10, 50];
/// Each, so that many carriers do not mean many connections more than a few.
const BINDS: u32 = 1;
const WARM_UP: u64 = 5_000;
const MESSAGES: u64 = 20_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let mut figures = Figures::default();
    let mut points = Vec::new();
    for carriers in POINTS {
        let messages = if quick { MESSAGES / 10 } else { MESSAGES };
        let point = at(&mut figures, setup, carriers, messages).await?;
        points.push((carriers as u64, point));
    }
    curve::show(&mut figures, &points);
    Ok(figures)
}

async fn at(figures: &mut Figures, setup: &Setup, carriers: usize, messages: u64) -> Result<Point> {
    let mut site = Site::prepare(&Setup {
        carriers,
        binds: BINDS,
        ..setup.clone()
    })?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    curve::measure(&site, &callbacks, 0..WARM_UP).await?;
    let all = WARM_UP + messages;
    let point = curve::measure(&site, &callbacks, WARM_UP..all).await?;
    close(figures, site, all, all).await?;
    Ok(point)
}
