//! Work that time causes: sweeps, retention, verification, backups, and maintenance of tables.

pub(crate) mod backup;
pub(crate) mod clock_step;
pub(crate) mod maintenance;
pub(crate) mod retention;
pub(crate) mod sweep;
pub(crate) mod verify;
