//! The real service is killed at each write, sync and socket send in turn, or its disk fails or is
//! full there, or it is killed under load. It is started again. The tests then judge what its peers
//! saw, and the result of `ogene verify`. Faults of a carrier are judged likewise.
//!
//! A point is a call of the service at which a fault is injected, in the form of strace:
//! `pwrite64:signal=SIGKILL:when=17` is the 17th call of a thread. `OGENE_FAULTS` selects the
//! points: the number that must be reached (40, and 10 on PostgreSQL; for the workloads of money and of polling 24 and 8), `all`, or one point.
//! `OGENE_BINARY` names another binary.

mod aggregator;
mod crash;
mod daemon;
mod deals;
mod disk;
mod esme;
mod invariants;
mod kept;
mod money;
mod points;
mod polling;
pub(crate) mod provider;
mod runner;
mod scene;
mod smsc;
mod trial;
mod workload;

#[test]
fn invariants_hold_on_sqlite_after_kills_and_disk_faults() {
    testkit::needs!(Strace);
    runner::run(&kept::Kept::embedded(), 40);
}

#[test]
fn invariants_hold_on_postgresql_after_kills_and_socket_faults() {
    testkit::needs!(Strace, Postgres);
    runner::run(&kept::Kept::on_postgres(), 10);
}

#[test]
fn money_is_right_on_sqlite_after_kills_and_disk_faults() {
    testkit::needs!(Strace);
    runner::run(&money::Desk::new(kept::Kept::embedded()), 24);
}

#[test]
fn money_is_right_on_postgresql_after_kills_and_socket_faults() {
    testkit::needs!(Strace, Postgres);
    runner::run(&money::Desk::new(kept::Kept::on_postgres()), 8);
}

#[test]
fn polling_is_right_on_sqlite_after_kills_and_disk_faults() {
    testkit::needs!(Strace);
    runner::run(&polling::Polled(kept::Kept::embedded()), 24);
}

#[test]
fn polling_is_right_on_postgresql_after_kills_and_socket_faults() {
    testkit::needs!(Strace, Postgres);
    runner::run(&polling::Polled(kept::Kept::on_postgres()), 8);
}
