//! The limits of an SMPP user.

/// The limits of an SMPP user.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SmppLimits {
    /// Maximum number of connections to a node.
    pub binds: u32,
    /// Maximum number of submits in a second, to a node. It also limits queries and cancels
    /// together, apart from submits.
    pub per_second: u32,
    /// Maximum number of unanswered requests of a connection.
    pub window: u32,
}

impl Default for SmppLimits {
    fn default() -> Self {
        Self {
            binds: 4,
            per_second: 100,
            window: 100,
        }
    }
}
