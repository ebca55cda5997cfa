//! The even distribution of a carrier's connections over nodes.

use crate::ids::NodeId;

/// The next step of a node towards its share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Share {
    /// Keep the connections.
    Keep,
    /// Take free connections up to this total.
    Take(usize),
    /// Release this number of connections.
    GiveBack(usize),
}

/// Returns the next step of the node `me` among `alive` nodes, where `holders` has the node of each
/// held connection. Connections of nodes that are not alive are free.
pub fn share(me: NodeId, alive: &[NodeId], holders: &[NodeId], slots: usize) -> Share {
    let held = |node: NodeId| holders.iter().filter(|&&holder| holder == node).count();
    let nodes = alive.len().max(1);
    let (least, most) = (slots / nodes, slots.div_ceil(nodes));
    let mine = held(me);
    if mine > most {
        return Share::GiveBack(mine - most);
    }
    let taken: usize = alive.iter().map(|&node| held(node)).sum();
    let wanting = alive.iter().any(|&node| node != me && held(node) < least);
    if taken < slots && mine < most && (mine < least || !wanting) {
        return Share::Take(most);
    }
    // All connections are held and some node has too few, so the first of the nodes with most
    // releases some.
    let largest = alive.iter().map(|&node| held(node)).max().unwrap_or(0);
    let first = alive.iter().filter(|&&node| held(node) == largest).min();
    if taken >= slots && wanting && mine > least && first == Some(&me) {
        return Share::GiveBack(1);
    }
    Share::Keep
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the step of a node. A holder of 0 marks a free connection.
    fn step(me: i64, alive: &[i64], holders: &[i64], slots: usize) -> Share {
        let nodes = |numbers: &[i64]| -> Vec<NodeId> {
            let numbers = numbers.iter().copied().filter(|&number| number > 0);
            numbers.map(NodeId).collect()
        };
        share(NodeId(me), &nodes(alive), &nodes(holders), slots)
    }

    #[test]
    fn a_node_alone_takes_all() {
        assert_eq!(step(1, &[1], &[], 4), Share::Take(4));
        assert_eq!(step(1, &[1], &[9, 9, 1, 0], 4), Share::Take(4));
        assert_eq!(step(1, &[1], &[1; 4], 4), Share::Keep);
    }

    #[test]
    fn a_new_node_gets_its_share() {
        assert_eq!(step(1, &[1, 2], &[1; 4], 4), Share::GiveBack(2));
        assert_eq!(step(1, &[1, 2], &[1; 6], 6), Share::GiveBack(3));
        assert_eq!(step(2, &[1, 2], &[1; 4], 4), Share::Keep);
        assert_eq!(step(2, &[1, 2], &[1, 1, 0, 0], 4), Share::Take(2));
    }

    #[test]
    fn no_node_takes_more_while_another_has_too_few() {
        assert_eq!(step(1, &[1, 2, 3], &[1, 0, 2, 2], 4), Share::Keep);
        assert_eq!(step(3, &[1, 2, 3], &[1, 0, 2, 2], 4), Share::Take(2));
        assert_eq!(step(1, &[1, 2], &[1, 1, 2, 2, 0], 5), Share::Take(3));
        assert_eq!(step(2, &[1, 2, 3], &[1, 1, 2, 2], 4), Share::Keep);
        assert_eq!(step(1, &[1, 2, 3], &[1, 1, 2, 2], 4), Share::GiveBack(1));
    }

    #[test]
    fn one_connection_stays_where_it_is() {
        assert_eq!(step(1, &[1, 2, 3], &[2], 1), Share::Keep);
        assert_eq!(step(2, &[1, 2, 3], &[2], 1), Share::Keep);
        assert_eq!(step(3, &[1, 3], &[2], 1), Share::Take(1));
    }

    proptest! {
        /// From any start and in any order, all connections are held in the end, and no two nodes
        /// differ by more than one.
        #[test]
        fn steps_of_the_nodes_end_with_even_shares(
            nodes in 1..6_i64, mut holders in proptest::collection::vec(0..7_i64, 1..12),
            turns in proptest::collection::vec(0..6_usize, 200),
        ) {
            let alive: Vec<i64> = (1..=nodes).collect();
            let slots = holders.len();
            let rounds = (0..20).flat_map(|_| 0..alive.len());
            for turn in turns.into_iter().chain(rounds) {
                let me = alive[turn % alive.len()];
                match step(me, &alive, &holders, slots) {
                    Share::Keep => {}
                    Share::Take(most) => {
                        let mine = holders.iter().filter(|&&holder| holder == me).count();
                        let free = holders.iter_mut().filter(|holder| !alive.contains(holder));
                        free.take(most - mine).for_each(|holder| *holder = me);
                    }
                    Share::GiveBack(count) => {
                        let own = holders.iter_mut().filter(|holder| **holder == me);
                        own.take(count).for_each(|holder| *holder = 0);
                    }
                }
            }
            let held = |node: &i64| holders.iter().filter(|holder| *holder == node).count();
            let counts: Vec<usize> = alive.iter().map(held).collect();
            prop_assert_eq!(counts.iter().sum::<usize>(), slots);
            let (most, least) = (counts.iter().max(), counts.iter().min());
            prop_assert!(most.unwrap() - least.unwrap() <= 1, "{:?}", counts);
        }
    }
}
