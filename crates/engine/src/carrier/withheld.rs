//! What is in hand of accounts that may not send any more goes back, as far as nothing of it was handed over.

use super::Carrier;
use super::desk::Desk;
use std::sync::atomic::Ordering;

impl Carrier {
    /// Has the desk look through what it has in hand.
    pub(crate) fn withhold(&self) {
        self.withheld.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    fn take_withheld(&self) -> bool {
        self.withheld.swap(false, Ordering::Relaxed)
    }
}

impl Desk {
    /// Gives it back. Where pages of a recipient are on the wire the others follow them.
    pub(super) fn put_back_withheld(&mut self) {
        if !self.carrier.take_withheld() {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        let holds = &self.shared.holds;
        for tag in self.hand.withdraw(|content| holds.contain(content)) {
            self.put_back(tag, now_ms);
        }
    }
}
