//! Personalised sends, in which a template gives every recipient a text of its own.
//!
//! ```text
//! CSV or JSON ──read──▶ Rows ──┐
//!                              ├──render──▶ a text for each row, or its faults
//! body ──parse──▶ Template ────┘
//! ```

mod csv;
pub(crate) mod faults;
mod json;
mod rows;
mod template;

pub use csv::read_csv;
pub use faults::{MAX_NAMED_FAULTS, Reason, RowFault, RowFaults};
pub use json::JsonRows;
pub use rows::{MAX_VARIABLES, Row, RowField, Rows};
pub use template::{Bound, MAX_PLACEHOLDERS, Template, TemplateFault};
