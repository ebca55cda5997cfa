//! The real service, killed at each write, sync and socket send in turn, or told there that the disk has failed or
//! is full, or killed under load; started again; and judged by what the outside saw of it, and by `ogene verify`.
//! So is what a carrier does wrong.
//!
//! A point is a place in the service's life where something befalls it, as strace writes it:
//! `pwrite64:signal=SIGKILL:when=17` is the 17th call of a thread. `OGENE_FAULTS` says which points are tried: so
//! many that a number of them is reached (100, and 20 on PostgreSQL), `all`, or one alone. `OGENE_BINARY` names another
//! binary.

mod crash;
mod daemon;
mod disk;
mod invariants;
mod kept;
mod points;
mod scene;
mod smsc;
mod trial;
mod workload;

#[test]
fn invariants_hold_on_sqlite_after_kills_and_disk_faults() {
    testkit::needs!(Strace);
    trial::run(&kept::Kept::embedded(), 100);
}

#[test]
fn invariants_hold_on_postgresql_after_kills_and_socket_faults() {
    testkit::needs!(Strace, Postgres);
    trial::run(&kept::Kept::on_postgres(), 20);
}
