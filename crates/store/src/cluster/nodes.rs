//! The nodes that share a database: the living ones, and the holders of the carriers' connections.
//!
//! A living node raises its beat. The others compare it by their own clocks, so no time is compared
//! across machines. A claim by a node without a row here has no holder any more.

use super::hints::{self, Hints};
use crate::rows::{self, holder};
use database::{Change, Db, Result, Tx, bulk, locking, query, value};
use domain::NodeId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A node as the others see it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NodeBeat {
    /// The number of the node.
    pub node: NodeId,
    /// The count of its beats.
    pub beat: i64,
}

/// One of the connections that the account at a carrier may have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bind {
    /// The carrier.
    pub carrier: String,
    /// The number of the connection, from 1.
    pub slot: i64,
    /// The node that holds it, if any does. A node without a beat holds nothing.
    pub node: Option<NodeId>,
    /// `true` if its holder reported it as bound.
    pub bound: bool,
}

struct Beat {
    node: NodeId,
    name: String,
    alone: bool,
}

impl Change for Beat {
    /// `true` if the node was known.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if self.alone {
            tx.execute(query("delete from nodes where node <> $1").bind(self.node.0))
                .await?;
        }
        let raised = tx
            .execute(query("update nodes set beat = beat + 1 where node = $1").bind(self.node.0))
            .await?;
        if raised == 0 {
            tx.execute(
                query(
                    "insert into nodes (node, name, beat) values ($1, $2, 0)
                 on conflict do nothing",
                )
                .bind(self.node.0)
                .bind(&self.name),
            )
            .await?;
        }
        Ok(raised == 1)
    }
}

struct Bury {
    dead: NodeBeat,
}

impl Change for Bury {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let gone = tx
            .execute(
                query("delete from nodes where node = $1 and beat = $2")
                    .bind(self.dead.node.0)
                    .bind(self.dead.beat),
            )
            .await?;
        Ok(gone == 1)
    }
}

struct Leave {
    node: NodeId,
}

impl Change for Leave {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        for sql in [
            "update binds set node = 0, bound = false where node = $1",
            "delete from nodes where node = $1",
        ] {
            tx.execute(query(sql).bind(self.node.0)).await?;
        }
        Ok(())
    }
}

struct TakeBinds {
    carrier: Arc<str>,
    node: NodeId,
    slots: i64,
    most: usize,
}

impl Change for TakeBinds {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let slots: Vec<i64> = (1..=self.slots).collect();
        tx.execute_each(
            bulk(
                "insert into binds (carrier, slot, node) values ($1, $2, $3)
             on conflict do nothing",
                "insert into binds (carrier, slot, node) select *
             from unnest($1::text[], $2::bigint[], $3::bigint[]) on conflict do nothing",
            )
            .rows(&slots, |slot| {
                [value(&*self.carrier), value(*slot), value(holder(None))]
            }),
        )
        .await?;
        let sql = locking!(
            "select slot, node, case when node in (select n.node from nodes n) then 1 else 0 end
             from binds where carrier = $1 and slot <= $2 order by slot";
            "for update"
        );
        let rows: Vec<(i64, i64, i32)> = tx
            .fetch_all(query(sql).bind(&*self.carrier).bind(self.slots))
            .await?;
        let held = rows
            .iter()
            .filter(|(_, node, _)| *node == self.node.0)
            .count();
        let free = rows
            .iter()
            .filter(|(_, node, alive)| *node != self.node.0 && *alive == 0);
        for (slot, ..) in free.take(self.most.saturating_sub(held)) {
            tx.execute(
                query("update binds set node = $1, bound = false where carrier = $2 and slot = $3")
                    .bind(self.node.0)
                    .bind(&*self.carrier)
                    .bind(*slot),
            )
            .await?;
        }
        Ok(())
    }
}

struct SetBind {
    bind: Bind,
    /// The new holder.
    holder: Option<NodeId>,
}

impl Change for SetBind {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.execute(
            query(
                "update binds set node = $1, bound = $2 where carrier = $3 and slot = $4
             and node = $5",
            )
            .bind(holder(self.holder))
            .bind(self.bind.bound)
            .bind(&self.bind.carrier)
            .bind(self.bind.slot)
            .bind(holder(self.bind.node)),
        )
        .await
        .map(drop)
    }
}

type BindRow = (String, i64, i64, bool);

/// The nodes that share a database.
#[derive(Clone, Copy)]
pub struct Nodes<'s> {
    pub(crate) db: &'s Db,
}

impl Nodes<'_> {
    /// Raises the beat of a node, and adds the node if it is unknown. It returns `true` if the node
    /// was known. On SQLite, where there can be no other node, all others are removed.
    pub async fn beat(self, node: NodeId, name: &str) -> Result<bool> {
        let beat = Beat {
            node,
            name: name.to_owned(),
            alone: self.db.is_embedded(),
        };
        self.db.change(beat).await
    }

    /// Returns all nodes.
    pub async fn all(self) -> Result<Vec<NodeBeat>> {
        let rows: Vec<(i64, i64)> = self
            .db
            .fetch_all(query("select node, beat from nodes order by node"))
            .await?;
        Ok(rows
            .into_iter()
            .map(|(node, beat)| NodeBeat {
                node: NodeId(node),
                beat,
            })
            .collect())
    }

    /// Returns all nodes with their names, such as `host:1234`.
    pub async fn names(self) -> Result<Vec<(NodeId, String)>> {
        let rows: Vec<(i64, String)> = self
            .db
            .fetch_all(query("select node, name from nodes order by node"))
            .await?;
        let named = rows.into_iter().map(|(node, name)| (NodeId(node), name));
        Ok(named.collect())
    }

    /// Removes a node whose beat is unchanged. It returns `true` if the node was there.
    pub async fn remove_dead(self, dead: NodeBeat) -> Result<bool> {
        self.db.change(Bury { dead }).await
    }

    /// Removes a node that ends, and frees its connections.
    pub async fn leave(self, node: NodeId) -> Result<()> {
        self.db.change(Leave { node }).await
    }

    /// Takes free connections of a carrier out of `slots`, until the node holds `most` in all.
    pub async fn take_binds(
        self,
        carrier: &Arc<str>,
        node: NodeId,
        slots: usize,
        most: usize,
    ) -> Result<()> {
        let take = TakeBinds {
            carrier: Arc::clone(carrier),
            node,
            slots: i64::try_from(slots).unwrap_or(i64::MAX),
            most,
        };
        self.db.change(take).await
    }

    /// Frees a connection that this node holds.
    pub async fn free_bind(self, bind: Bind) -> Result<()> {
        let bind = Bind {
            bound: false,
            ..bind
        };
        self.db.change(SetBind { bind, holder: None }).await
    }

    /// Records the bound state of a connection that this node holds.
    pub async fn note_bind(self, bind: Bind) -> Result<()> {
        let holder = bind.node;
        self.db.change(SetBind { bind, holder }).await
    }

    /// Returns all connections by carrier.
    pub async fn binds(self) -> Result<BTreeMap<String, Vec<Bind>>> {
        let rows: Vec<BindRow> = self
            .db
            .fetch_all(query(
                "select carrier, slot, node, bound from binds order by carrier, slot",
            ))
            .await?;
        let mut binds: BTreeMap<String, Vec<Bind>> = BTreeMap::new();
        for (carrier, slot, node, bound) in rows {
            binds.entry(carrier.clone()).or_default().push(Bind {
                carrier,
                slot,
                node: rows::node(node),
                bound,
            });
        }
        Ok(binds)
    }

    /// Listens for hints of other nodes. It returns `None` if there can be no other node.
    pub async fn listen(self) -> Result<Option<Hints>> {
        hints::listen(self.db).await
    }

    /// Notifies the other nodes that these carriers have work. It runs outside the transaction that
    /// made the work, because commits with notifications wait for each other.
    pub async fn notify(self, carriers: &[String]) -> Result<()> {
        hints::notify(self.db, carriers).await
    }
}
