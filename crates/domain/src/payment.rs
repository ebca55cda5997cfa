//! Top-ups: payments of customers over a provider, and the credit for them.

mod acceptance;
mod id;
mod judgement;
mod percent;
mod provided;
pub mod provider;
mod recent_checks;
mod request;
mod terms;
mod top_up;

pub use acceptance::{AcceptFault, Acceptance, accept, accepted_for, check_decision};
pub use id::TopUpId;
pub use judgement::{Verdict, judge};
pub use percent::{NotPercent, Percent};
pub use provided::{CURRENCY, Mismatch, Payment, PaymentStatus, Received};
pub use recent_checks::RecentChecks;
pub use request::{MAX_RETURN_URL_CHARACTERS, TopUpFields, TopUpRequest, is_page};
pub use terms::{AmountFault, Bonus, MAX_OPEN_TOP_UPS, MAX_TOP_UP, Priced, Terms, is_in_kobo};
pub use top_up::{NewTopUp, TopUp, TopUpState};
