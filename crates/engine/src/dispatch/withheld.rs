//! What is in hand of accounts that may not send any more goes back, as far as nothing of it was handed over.

use super::worker::Desk;

impl Desk {
    /// Gives it back. Where pages of a recipient are on the wire the others follow them.
    pub(crate) fn put_back_withheld(&mut self) {
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
