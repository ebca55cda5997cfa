//! The SMPP users that are bound to each node.

use database::{Change, Result, Tx, query};
use domain::NodeId;

/// The change that replaces the users of a node. It also removes the users of nodes that have ended.
pub(super) struct PublishBinds {
    pub(super) node: NodeId,
    /// The number of connections, by system id.
    pub(super) bound: Vec<(String, u32)>,
}

impl Change for PublishBinds {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let delete = query(
            "delete from smpp_binds where node = $1 or node not in (select n.node from nodes n)",
        );
        tx.execute(delete.bind(self.node.0)).await?;
        for (system_id, connections) in &self.bound {
            let insert =
                query("insert into smpp_binds (node, system_id, connections) values ($1, $2, $3)");
            let insert = insert.bind(self.node.0).bind(system_id);
            tx.execute(insert.bind(i64::from(*connections))).await?;
        }
        Ok(())
    }

    async fn is_committed(&self, _: &mut Tx, (): &()) -> Result<bool> {
        // It is made again, and changes nothing then.
        Ok(false)
    }
}
