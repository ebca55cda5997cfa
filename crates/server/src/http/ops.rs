//! Routes for machines: liveness, readiness and metrics.

pub(super) mod probes;
