//! Carriers by HTTP: the request for a message, and the meaning of answers and receipts.

mod answer;
mod ids;
mod pointer;
mod poll;
mod preset;
mod receipt;
mod request;
mod template;

pub use answer::{AnswerRules, HttpAnswer};
pub use ids::submit_id;
pub use pointer::{Pointer, PointerFault};
pub use poll::{HttpPoll, PollTimes};
pub use preset::{HttpPreset, PresetAccount, escaped};
pub use receipt::{HttpReceipt, HttpReceipts, ReceiptFault, StateWords};
pub use request::{
    BodyTemplate, HttpMethod, HttpRequest, HttpSubmit, JsonTemplate, RequestTemplate, UrlFault,
};
pub use template::{HttpMessage, HttpRecipient, HttpTemplate, HttpTemplateFault};
