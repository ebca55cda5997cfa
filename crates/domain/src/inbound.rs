//! Inbound messages: the texts that subscribers send to numbers of the operator.
//!
//! A carrier delivers a message in one page or in several. The pages are kept as they came, and
//! joined once all of them are there, or once they have waited for long enough.

mod answer;
mod command;
mod decode;
mod fingerprint;
mod join;
mod message;
mod request;
mod route;

pub use answer::{AnswerChange, AnswerTexts, MAX_ANSWER_CHARACTERS};
pub use command::{Command, MAX_WORD_CHARACTERS, is_stop_word};
pub use decode::decode;
pub use fingerprint::fingerprint;
pub use join::{InboundPage, JoinedPages, join};
pub use message::{EVENT, InboundFields, InboundMessage};
pub use request::{MAX_ROUTES, RouteFields, RouteRequest};
pub use route::{
    InboundRoute, KeywordFault, MAX_KEYWORD_CHARACTERS, NumberFault, address, keyword, matching,
    number,
};
