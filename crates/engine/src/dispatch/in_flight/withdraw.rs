//! Recipients that wait in hand and are not to go out any more.

use super::{Hand, Tag};
use std::collections::HashSet;
use store::Content;

impl Hand {
    /// Takes out those recipients that wait and say what is meant, and of which no page was handed over.
    pub(crate) fn withdraw(&mut self, is_meant: impl Fn(&Content) -> bool) -> Vec<Tag> {
        let ready = self.ready.iter().flatten();
        let ready = ready.map(|&(slot, recipient)| Tag {
            slot,
            recipient,
            page: 0,
        });
        let held = self.held.iter().map(|&(_, tag)| tag);
        let is_unsent = |tag: &Tag| {
            let content = self.batch(*tag).map(|(_, content)| content);
            content.is_some_and(|content| is_meant(&content)) && !self.is_begun(*tag)
        };
        let out: Vec<Tag> = ready.chain(held).filter(is_unsent).collect();
        let places: HashSet<(u32, u16)> = out.iter().map(|tag| (tag.slot, tag.recipient)).collect();
        for queue in &mut self.ready {
            queue.retain(|place| !places.contains(place));
        }
        self.held
            .retain(|(_, tag)| !places.contains(&(tag.slot, tag.recipient)));
        out
    }
}
