//! System tests: the real binary, as its users run it.
//!
//! `cli` runs the commands, `nodes` many nodes on one PostgreSQL, and `faults` kills and failing disks.
//! The modules beside them start programs that these tests share.

#[cfg(test)]
mod cli;
#[cfg(test)]
mod customer;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod installation;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod pgbouncer;
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod process;
#[cfg(test)]
mod receiver;
