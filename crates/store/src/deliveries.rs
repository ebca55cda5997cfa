//! Deliveries as they are stored.

pub(crate) mod carrier_ids;
pub(crate) mod delivery_rows;
pub(crate) mod doubts;
pub(crate) mod pending;
pub(crate) mod raw_receipts;
pub(crate) mod receipt_polls;
pub(crate) mod receipts;
pub(crate) mod settle;
