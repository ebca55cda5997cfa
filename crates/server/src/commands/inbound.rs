//! `ogene inbound`

use super::answer::{Answer, Failure};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use super::queries::Times;
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::AccountId;
use domain::inbound::{InboundFields, InboundMessage, InboundRoute};
use domain::search::FilterFields;
use engine::operators::RouteFields;
use serde::Serialize;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Inbound {
    /// Routes of numbers and keywords to accounts: add, list, remove
    #[command(subcommand)]
    Route(Route),
    /// List inbound messages, the newest first
    #[command(
        after_help = "Messages without an account had no route: they belong to the operator.\n\n\
        Example: ogene inbound list --number 32811 --since 2027-01-31"
    )]
    List {
        /// Only messages of this account
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        #[command(flatten)]
        filters: Filters,
        #[command(flatten)]
        page: PageArgs,
    },
}

#[derive(Subcommand)]
pub(super) enum Route {
    /// Give a number, or one keyword of it, to an account
    #[command(
        after_help = "The account may use the number as sender ID. A keyword is the first words of a text; case and punctuation \
        do not count, and the longest keyword wins. A second `add` of the same number and keyword replaces the URL or SMPP user.\n\n\
        Examples: ogene inbound route add --number 32811 --account 1882399170363392\n          \
        ogene inbound route add --number 32811 --keyword PROMO --account 1882399170363392 --url https://shop.example.ng/inbound"
    )]
    Add {
        /// The number: a short code, or an international number
        #[arg(long)]
        number: String,
        /// The first words of the texts [default: all texts without another route]
        #[arg(long, value_name = "WORDS")]
        keyword: Option<String>,
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// The URL that gets the messages
        #[arg(long)]
        url: Option<String>,
        /// The SMPP user that gets the messages by `deliver_sm`, in place of a URL
        #[arg(long, value_name = "SYSTEM_ID", conflicts_with = "url")]
        smpp_user: Option<String>,
    },
    /// List routes by account, the newest first
    #[command(after_help = "Example: ogene inbound route list --account 1882399170363392")]
    List {
        /// Only routes of this account
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Remove a route; its messages stay with the account
    #[command(after_help = "Example: ogene inbound route remove --id rt_51f0c39a7be2d404")]
    Remove {
        /// The route, as `ogene inbound route list` shows it
        #[arg(long, value_name = "ID")]
        id: String,
    },
}

/// The filters of inbound messages. Times are those of arrival.
#[derive(Args)]
pub(super) struct Filters {
    #[command(flatten)]
    times: Times,
    /// Only messages to this number
    #[arg(long)]
    number: Option<String>,
    /// Only messages with this keyword
    #[arg(long, value_name = "WORDS")]
    keyword: Option<String>,
    /// Only messages from this sender
    #[arg(long, value_name = "NUMBER")]
    sender: Option<String>,
}

impl Filters {
    fn fields(self) -> FilterFields {
        FilterFields {
            number: self.number,
            keyword: self.keyword,
            sender: self.sender,
            ..self.times.fields()
        }
    }
}

impl Inbound {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        match self {
            Self::Route(route) => route.run(context).await,
            Self::List {
                account,
                filters,
                page,
            } => {
                let operations = context.open().await?;
                let fields = filters.fields();
                let read = async |request| {
                    let inbound = operations.inbound();
                    inbound.messages(account, &fields, &request).await
                };
                page.print(context, MESSAGE_COLUMNS, read, message_row)
                    .await
            }
        }
    }
}

impl Route {
    async fn run(self, context: &Context) -> Result<Answer, Failure> {
        match self {
            Self::Add {
                number,
                keyword,
                account,
                url,
                smpp_user,
            } => {
                let fields = RouteFields {
                    number,
                    keyword,
                    url,
                    smpp_user,
                    allow_private: context.config()?.callbacks.allow_private_targets,
                };
                let operations = context.open().await?;
                let route = operations.inbound().add_route(account, &fields).await?;
                let taken = match &*route.keyword {
                    "" => format!("Messages to {}", route.number),
                    keyword => format!("Messages to {} with `{keyword}`", route.number),
                };
                let text = format!("{taken} belong to {account} (route {}).", route.id);
                Answer::new(text, &RouteJson::from(&route))
            }
            Self::List { account, page } => {
                let operations = context.open().await?;
                let read = async |request| operations.inbound().routes(account, &request).await;
                page.print(context, ROUTE_COLUMNS, read, route_row).await
            }
            Self::Remove { id } => {
                context.open().await?.inbound().remove_route(&id).await?;
                let text =
                    format!("The route {id} is removed. Its messages stay with the account.");
                Answer::new(text, &json!({ "route_id": id }))
            }
        }
    }
}

#[derive(Serialize)]
struct RouteJson<'a> {
    route_id: &'a str,
    user_id: String,
    number: &'a str,
    keyword: Option<&'a str>,
    url: Option<&'a str>,
    smpp_user: Option<&'a str>,
    given: bool,
    created_at: String,
}

impl<'a> From<&'a InboundRoute> for RouteJson<'a> {
    fn from(route: &'a InboundRoute) -> Self {
        Self {
            route_id: &route.id,
            user_id: route.account.to_string(),
            number: &route.number,
            keyword: Some(&*route.keyword).filter(|keyword| !keyword.is_empty()),
            url: route.url.as_deref(),
            smpp_user: route.smpp_user.as_deref(),
            given: route.is_given,
            created_at: lagos_time(route.created_at_ms),
        }
    }
}

const ROUTE_COLUMNS: [&str; 7] = [
    "ROUTE_ID",
    "USER_ID",
    "NUMBER",
    "KEYWORD",
    "CREATED",
    "SMPP_USER",
    "URL",
];

fn route_row(route: &InboundRoute) -> Result<Row<7>, Failure> {
    let json = RouteJson::from(route);
    let cells = [
        json.route_id.to_owned(),
        json.user_id.clone(),
        json.number.to_owned(),
        json.keyword.unwrap_or("-").to_owned(),
        json.created_at.clone(),
        json.smpp_user.unwrap_or("-").to_owned(),
        json.url.unwrap_or("-").to_owned(),
    ];
    Row::new(&json, cells)
}

#[derive(Serialize)]
struct MessageJson<'a> {
    user_id: Option<String>,
    carrier: &'a str,
    #[serde(flatten)]
    fields: InboundFields<'a>,
}

impl<'a> From<&'a InboundMessage> for MessageJson<'a> {
    fn from(message: &'a InboundMessage) -> Self {
        Self {
            user_id: message.account.map(|account| account.to_string()),
            carrier: &message.carrier,
            fields: message.fields(),
        }
    }
}

const MESSAGE_COLUMNS: [&str; 7] = [
    "RECEIVED", "USER_ID", "FROM", "TO", "KEYWORD", "COMPLETE", "BODY",
];

fn message_row(message: &InboundMessage) -> Result<Row<7>, Failure> {
    let json = MessageJson::from(message);
    let fields = &json.fields;
    let cells = [
        fields.received_at.clone(),
        json.user_id.clone().unwrap_or_else(|| "-".to_owned()),
        fields.from.to_owned(),
        fields.to.to_owned(),
        fields.keyword.unwrap_or("-").to_owned(),
        if fields.complete { "yes" } else { "no" }.to_owned(),
        one_line(fields.body.unwrap_or_default()),
    ];
    Row::new(&json, cells)
}

/// Returns a text in one line, without the characters that steer a terminal or turn the direction of
/// writing.
fn one_line(text: &str) -> String {
    let steers = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{61C}' | '\u{200E}' | '\u{200F}')
            || matches!(letter, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    let shown = |letter: char| if steers(letter) { ' ' } else { letter };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_text_in_a_list_steers_no_terminal() {
        let text = "a\n\u{1B}[2J\u{202E}b\u{2066}c\u{200F}\u{2029}\u{1ECD}";
        assert_eq!(one_line(text), "a  [2J b c  \u{1ECD}");
    }
}
