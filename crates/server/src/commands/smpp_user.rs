//! `ogene smpp-user`

use super::answer::{Answer, Failure, pairs};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::client_address::{AddressRange, AllowList};
use domain::smpp_user::{self, Dialect, MAX_BINDS, MAX_PER_SECOND, MAX_WINDOW, SmppLimits};
use domain::{AccountId, Gateway};
use engine::operators::NewSmppUser;
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;

#[derive(Subcommand)]
pub(super) enum SmppUser {
    /// Create an SMPP user, and print its `system_id` and password; the password is shown only once
    #[command(
        after_help = "A user can bind where `smpp_server.listen` is set.\n\nExamples: ogene smpp-user create --account 1882399170363392\n          \
        ogene smpp-user create --account 1882399170363392 --sandbox --binds 2 --per-second 20 --allow 203.0.113.0/24"
    )]
    Create {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Simulate the messages of this user, as the sandbox does
        #[arg(long)]
        sandbox: bool,
        #[command(flatten)]
        limits: LimitArgs,
        /// Address or range from which the user may bind; may be repeated [default: all addresses]
        #[arg(long, value_name = "RANGE")]
        allow: Vec<AddressRange>,
        /// Gateway of messages without a `service_type`, by name or number [default: direct-refund]
        #[arg(long, value_name = "GATEWAY", value_parser = gateway)]
        gateway: Option<Gateway>,
        #[command(flatten)]
        dialect: DialectArgs,
    },
    /// List SMPP users by account, the newest first, with their current connections
    #[command(after_help = "Example: ogene smpp-user list --account 1882399170363392")]
    List {
        /// Only users of this account
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show an SMPP user, also a revoked one, and the number of receipts that wait for it
    #[command(after_help = "Example: ogene smpp-user show --system-id og7mk2x4pa")]
    Show {
        /// The user's `system_id`
        #[arg(long, value_name = "ID")]
        system_id: String,
    },
    /// Revoke an SMPP user: within a second its connections are unbound
    #[command(after_help = "Example: ogene smpp-user revoke --system-id og7mk2x4pa")]
    Revoke {
        /// The user's `system_id`
        #[arg(long, value_name = "ID")]
        system_id: String,
    },
    /// Set limits of an SMPP user; a limit that is not given stays
    #[command(
        after_help = "A running server applies `--per-second` within a second, and the others to new connections.\n\nExample: ogene smpp-user limits --system-id og7mk2x4pa --per-second 50"
    )]
    Limits {
        /// The user's `system_id`
        #[arg(long, value_name = "ID")]
        system_id: String,
        #[command(flatten)]
        limits: LimitArgs,
    },
}

/// The limits of a user.
#[derive(Args)]
pub(super) struct LimitArgs {
    /// Connections to each node at a time, 1 to 100 [default of a new user: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_BINDS)))]
    binds: Option<u32>,
    /// Messages to each node in a second, 1 to 10000 [default of a new user: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PER_SECOND)))]
    per_second: Option<u32>,
    /// Unanswered requests of a connection, 1 to 1000 [default of a new user: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WINDOW)))]
    window: Option<u32>,
}

impl LimitArgs {
    fn over(&self, before: SmppLimits) -> SmppLimits {
        SmppLimits {
            binds: self.binds.unwrap_or(before.binds),
            per_second: self.per_second.unwrap_or(before.per_second),
            window: self.window.unwrap_or(before.window),
        }
    }
}

/// The dialect of the program of a user.
#[derive(Args)]
pub(super) struct DialectArgs {
    /// Refuse with 0x0400 for no money, 0x0401 for a text that is not permitted, and 0x0402 for a
    /// number that opted out or is on DND, in place of `ESME_RSUBMITFAIL`
    #[arg(long)]
    vendor_statuses: bool,
    /// Read `data_coding` 0 as Latin 1 in place of GSM 03.38
    #[arg(long)]
    latin_1: bool,
}

fn gateway(text: &str) -> Result<Gateway, String> {
    let named = Gateway::parse(text).filter(|_| !text.trim().is_empty());
    named.ok_or_else(|| "give a gateway such as direct-refund, otp or 2".to_owned())
}

impl SmppUser {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        match self {
            Self::Create {
                account,
                sandbox,
                limits,
                allow,
                gateway,
                dialect,
            } => {
                let new = NewSmppUser {
                    sandbox,
                    limits: limits.over(SmppLimits::default()),
                    allowed: AllowList(allow),
                    gateway,
                    dialect: Dialect {
                        vendor_statuses: dialect.vendor_statuses,
                        latin_1: dialect.latin_1,
                    },
                };
                let (user, password) = operations.smpp_users().create(account, new).await?;
                created(&user, &password)
            }
            Self::List { account, page } => {
                let bound = operations.smpp_users().bound(account).await?;
                let read = async |request| operations.smpp_users().list(account, &request).await;
                let listed = |user: &smpp_user::SmppUser| listed(user, &bound);
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Show { system_id } => {
                let user = operations.smpp_users().show(&system_id).await?;
                let waiting = operations.smpp_users().waiting(&user).await?;
                let bound = operations.smpp_users().bound(Some(user.account)).await?;
                let json = UserJson {
                    receipts_waiting: Some(waiting),
                    ..UserJson::new(&user, None).bound(&bound)
                };
                Answer::new(json.lines(), &json)
            }
            Self::Revoke { system_id } => {
                operations.smpp_users().revoke(&system_id).await?;
                let json = json!({ "system_id": system_id, "revoked": true });
                Answer::new(format!("The SMPP user {system_id} is revoked."), &json)
            }
            Self::Limits { system_id, limits } => {
                let users = operations.smpp_users();
                let user = users
                    .limit(&system_id, |before| limits.over(before))
                    .await?;
                let json = UserJson::new(&user, None);
                Answer::new(json.lines(), &json)
            }
        }
    }
}

#[derive(Serialize)]
struct UserJson<'a> {
    system_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    password: Option<&'a str>,
    user_id: String,
    sandbox: bool,
    binds: u32,
    per_second: u32,
    window: u32,
    /// Addresses the user may bind from. An empty list allows all.
    allowed: Vec<String>,
    gateway: Option<&'static str>,
    vendor_statuses: bool,
    latin_1: bool,
    created_at: String,
    revoked_at: Option<String>,
    /// The current connections, on all nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipts_waiting: Option<i64>,
}

impl<'a> UserJson<'a> {
    fn new(user: &'a smpp_user::SmppUser, password: Option<&'a str>) -> Self {
        let ranges = user.allowed.0.iter();
        Self {
            system_id: &user.system_id,
            password,
            user_id: user.account.to_string(),
            sandbox: user.sandbox,
            binds: user.limits.binds,
            per_second: user.limits.per_second,
            window: user.limits.window,
            allowed: ranges.map(ToString::to_string).collect(),
            gateway: user.gateway.map(Gateway::as_str),
            vendor_statuses: user.dialect.vendor_statuses,
            latin_1: user.dialect.latin_1,
            created_at: lagos_time(user.created_at_ms),
            revoked_at: user.revoked_at_ms.map(lagos_time),
            bound: None,
            receipts_waiting: None,
        }
    }

    fn bound(mut self, bound: &HashMap<String, i64>) -> Self {
        self.bound = Some(bound.get(self.system_id).copied().unwrap_or_default());
        self
    }

    fn origins(&self) -> String {
        if self.allowed.is_empty() {
            "everywhere".to_owned()
        } else {
            self.allowed.join(",")
        }
    }

    fn gateway(&self) -> &'static str {
        self.gateway.unwrap_or("default")
    }

    fn environment(&self) -> &'static str {
        if self.sandbox { "sandbox" } else { "live" }
    }

    fn lines(&self) -> String {
        let now = [
            ("bound", self.bound),
            ("receipts waiting", self.receipts_waiting),
        ];
        let now = now
            .into_iter()
            .filter_map(|(name, count)| Some((name, count?.to_string())));
        let pairs_of_user = [
            ("system_id", self.system_id.to_owned()),
            ("user_id", self.user_id.clone()),
            ("environment", self.environment().to_owned()),
            ("binds", self.binds.to_string()),
            ("per_second", self.per_second.to_string()),
            ("window", self.window.to_string()),
            ("allowed", self.origins()),
            ("gateway", self.gateway().to_owned()),
            ("vendor statuses", yes_no(self.vendor_statuses)),
            ("latin 1", yes_no(self.latin_1)),
            ("created", self.created_at.clone()),
            (
                "revoked",
                self.revoked_at.clone().unwrap_or_else(|| "-".to_owned()),
            ),
        ];
        let all: Vec<_> = pairs_of_user.into_iter().chain(now).collect();
        pairs(&all)
    }
}

fn yes_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn created(user: &smpp_user::SmppUser, password: &str) -> Result<Answer, Failure> {
    let json = UserJson::new(user, Some(password));
    let secret = pairs(&[("password", password.to_owned())]);
    let lines = json.lines();
    Answer::new(
        format!("{secret}\n{lines}\nKeep the password now: it is not shown again."),
        &json,
    )
}

const COLUMNS: [&str; 10] = [
    "SYSTEM_ID",
    "USER_ID",
    "FOR",
    "BOUND",
    "BINDS",
    "PER_SECOND",
    "WINDOW",
    "GATEWAY",
    "ALLOWED",
    "REVOKED",
];

fn listed(user: &smpp_user::SmppUser, bound: &HashMap<String, i64>) -> Result<Row<10>, Failure> {
    let user = UserJson::new(user, None).bound(bound);
    let cells = [
        user.system_id.to_owned(),
        user.user_id.clone(),
        user.environment().to_owned(),
        user.bound.unwrap_or_default().to_string(),
        user.binds.to_string(),
        user.per_second.to_string(),
        user.window.to_string(),
        user.gateway().to_owned(),
        user.origins(),
        user.revoked_at.clone().unwrap_or_else(|| "-".to_owned()),
    ];
    Row::new(&user, cells)
}
