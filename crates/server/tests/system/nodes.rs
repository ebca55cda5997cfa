//! Many nodes on one PostgreSQL, by the real binary, and faults of a node or of the server.
//!
//! Each test has a PostgreSQL of its own, three nodes, and an SMSC that counts submits. At the end
//! each accepted message must have been sent, settled, charged and called back once (`judgement`).

mod clocks;
mod cluster;
mod controlled;
mod crash;
mod failover;
mod judgement;
mod keys;
mod killed;
mod load;
mod membership;
mod pooled;
mod proxy;
mod reload;
mod severed;
mod standstill;
mod together;
