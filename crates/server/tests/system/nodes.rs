//! Many nodes on one PostgreSQL, run by the real binary, and what may befall one of them or the server.
//!
//! Each test has a PostgreSQL of its own, three nodes, and an SMSC that counts submits. In
//! the end each accepted message has been sent, settled, charged and called back once (`judgement`).

mod clocks;
mod cluster;
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
