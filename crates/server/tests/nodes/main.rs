//! Many nodes on one PostgreSQL, run by the real binary, and what may befall one of them or the server.
//!
//! Each test has a PostgreSQL of its own, three nodes, and an SMSC that counts submits. In
//! the end each accepted message has been sent, settled, charged and called back once (`judgement`).

#[cfg(test)]
mod clocks;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod crash;
#[cfg(test)]
#[path = "../cli/customer.rs"]
mod customer;
#[cfg(test)]
mod failover;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the commands use more of it")]
#[path = "../cli/installation.rs"]
mod installation;
#[cfg(test)]
mod judgement;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod load;
#[cfg(test)]
mod membership;
#[cfg(test)]
#[path = "../cli/pgbouncer.rs"]
mod pgbouncer;
#[cfg(test)]
mod pooled;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the commands use more of it")]
#[path = "../cli/postgres.rs"]
mod postgres;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the commands use more of it")]
#[path = "../cli/process.rs"]
mod process;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod receiver;
#[cfg(test)]
mod reload;
#[cfg(test)]
mod severed;
#[cfg(test)]
mod standstill;
#[cfg(test)]
mod together;
