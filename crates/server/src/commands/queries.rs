//! The filters of the commands that find messages and money.

use super::arguments::account_id;
use clap::Args;
use clap::builder::PossibleValuesParser;
use domain::schedule::MessageState;
use domain::search::{FilterFields, StatusFilter};
use domain::{AccountId, Environment, Gateway};
use engine::operators::QueryScope;

/// The messages that a command covers.
#[derive(Args)]
pub(super) struct Scope {
    /// Only messages of this account
    #[arg(long, value_name = "ID", value_parser = account_id)]
    account: Option<AccountId>,
    /// Messages of the sandbox in place of live ones
    #[arg(long)]
    sandbox: bool,
}

impl Scope {
    /// Returns the scope of the queries.
    pub(super) fn of(&self) -> QueryScope {
        QueryScope {
            account: self.account,
            environment: if self.sandbox {
                Environment::Sandbox
            } else {
                Environment::Live
            },
        }
    }
}

/// A range of time.
#[derive(Args)]
pub(super) struct Times {
    /// Only from this time on
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl Times {
    /// Returns the fields of a filter by time alone.
    pub(super) fn fields(self) -> FilterFields {
        FilterFields {
            since: self.since,
            until: self.until,
            ..FilterFields::default()
        }
    }
}

/// The filters of messages. Times are those of acceptance.
#[derive(Args)]
pub(super) struct MessageFilters {
    #[command(flatten)]
    times: Times,
    /// Only messages to this number
    #[arg(long, value_name = "NUMBER")]
    recipient: Option<String>,
    /// Only messages from this sender ID
    #[arg(long, value_name = "S")]
    sender: Option<String>,
    /// Only messages over this gateway
    #[arg(long, value_parser = PossibleValuesParser::new(Gateway::ALL.iter().map(|one| one.as_str())))]
    gateway: Option<String>,
    /// Only messages in this state
    #[arg(long, value_parser = PossibleValuesParser::new(MessageState::ALL.iter().map(|one| one.as_str())))]
    state: Option<String>,
    /// Only messages with a recipient of this status
    #[arg(long, value_name = "STATUS",
        value_parser = PossibleValuesParser::new(StatusFilter::ALL.iter().map(|one| one.as_str())))]
    delivery_status: Option<String>,
    /// Only messages with this reference of the customer
    #[arg(long, value_name = "R")]
    customer_reference: Option<String>,
}

impl MessageFilters {
    /// Returns the fields of the filter.
    pub(super) fn fields(self) -> FilterFields {
        FilterFields {
            recipient: self.recipient,
            sender: self.sender,
            gateway: self.gateway,
            state: self.state,
            delivery_status: self.delivery_status,
            customer_reference: self.customer_reference,
            ..self.times.fields()
        }
    }
}
