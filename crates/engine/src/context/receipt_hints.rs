//! Hints that receipts wait for SMPP users. They only shorten waits, since each connection polls.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use tokio::sync::watch;

/// The users with connections to this node that receive.
#[derive(Default)]
pub(crate) struct ReceiptHints {
    users: Mutex<HashMap<String, watch::Sender<()>>>,
}

impl ReceiptHints {
    /// Returns the hints for a connection of a user.
    pub(crate) fn of(&self, system_id: &str) -> watch::Receiver<()> {
        let mut users = self.users.lock();
        // Users without a connection leave here, so that their number is bounded.
        users.retain(|_, sender| sender.receiver_count() > 0);
        let sender = users.entry(system_id.to_owned());
        sender.or_insert_with(|| watch::Sender::new(())).subscribe()
    }

    /// Notifies the connections of users.
    pub(crate) fn wake(&self, system_ids: &BTreeSet<String>) {
        if system_ids.is_empty() {
            return;
        }
        let users = self.users.lock();
        let bound = system_ids.iter().filter_map(|id| users.get(id));
        for sender in bound {
            sender.send_replace(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_of_a_user_gets_its_hints_alone() {
        let hints = ReceiptHints::default();
        let mut connections = ["a", "a", "b"].map(|id| hints.of(id));
        hints.wake(&["a".to_owned(), "unknown".to_owned()].into());
        let woken = connections.each_mut().map(|one| {
            let is_woken = one.has_changed().unwrap();
            one.mark_unchanged();
            is_woken
        });
        assert_eq!(woken, [true, true, false]);
        drop(connections);
        let other = hints.of("c");
        assert_eq!(hints.users.lock().len(), 1);
        drop(other);
    }
}
