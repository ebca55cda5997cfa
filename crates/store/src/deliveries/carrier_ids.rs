//! Pages by their carrier ids: the index by which receipts find their recipients.
//!
//! A page lies in the bucket of its carrier's id, which is all that a receipt contains, and names
//! the bucket of its delivery. Pages with adjacent ids share a row (`stored`).

mod index;
mod matched;
pub(crate) mod page;
pub(crate) mod stored;
mod submitted;

pub(crate) use index::{guesses, keep};
pub(crate) use matched::{Matched, Meant, look_up};
pub(crate) use page::{NamedPage, PageRef};
pub(crate) use stored::hour_of;
pub(crate) use submitted::{StoreCarrierIds, submitted};
