//! Detection of dead nodes by their heartbeats. No effects here.

use domain::NodeId;
use std::collections::HashMap;
use std::time::Duration;
use store::NodeBeat;
use tokio::time::Instant;

/// Time without a new heartbeat after which a node is dead.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(5);

/// The last heartbeat of each node, and when it was first seen.
#[derive(Default)]
pub(crate) struct Watch(pub(crate) HashMap<NodeId, (i64, Instant)>);

impl Watch {
    /// Returns the nodes whose heartbeat has not changed for too long.
    pub(crate) fn dead(&mut self, all: &[NodeBeat], now: Instant) -> Vec<NodeBeat> {
        self.0
            .retain(|node, _| all.iter().any(|seen| seen.node == *node));
        let mut dead = Vec::new();
        for seen in all {
            let (beat, since) = self.0.entry(seen.node).or_insert((seen.beat, now));
            if *beat != seen.beat {
                (*beat, *since) = (seen.beat, now);
            } else if now.duration_since(*since) >= DEAD_AFTER {
                dead.push(*seen);
            }
        }
        dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_dead_when_its_heartbeat_stops() {
        let (mut watch, start) = (Watch::default(), Instant::now());
        let seen = |beat| {
            let node = NodeId(1);
            [NodeBeat { node, beat }]
        };
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(watch.dead(&seen(1), at(0)), []);
        assert_eq!(watch.dead(&seen(1), at(4)), []);
        assert_eq!(watch.dead(&seen(2), at(5)), []);
        assert_eq!(watch.dead(&seen(2), at(9)), []);
        assert_eq!(watch.dead(&seen(2), at(10)), seen(2));
        assert_eq!(watch.dead(&[], at(11)), []);
        assert_eq!(watch.dead(&seen(2), at(12)), [], "the node is new");
    }
}
