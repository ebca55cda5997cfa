//! `ogene smpp-user`

use super::answer::{Answer, Failure, pairs};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::client_address::{AddressRange, AllowList};
use domain::smpp_user::{self, MAX_BINDS, MAX_PER_SECOND, MAX_WINDOW, SmppLimits};
use domain::{AccountId, Gateway};
use engine::operators::NewSmppUser;
use serde::Serialize;
use serde_json::json;

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
    },
    /// List SMPP users by account, the newest first
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
            } => {
                let new = NewSmppUser {
                    sandbox,
                    limits: limits.over(SmppLimits::default()),
                    allowed: AllowList(allow),
                    gateway,
                };
                let (user, password) = operations.smpp_users().create(account, new).await?;
                created(&user, &password)
            }
            Self::List { account, page } => {
                let read = async |request| operations.smpp_users().list(account, &request).await;
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Show { system_id } => {
                let user = operations.smpp_users().show(&system_id).await?;
                let waiting = operations.smpp_users().waiting(&user).await?;
                shown(&user, Some(waiting))
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
                shown(&user, None)
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
    created_at: String,
    revoked_at: Option<String>,
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
            created_at: lagos_time(user.created_at_ms),
            revoked_at: user.revoked_at_ms.map(lagos_time),
            receipts_waiting: None,
        }
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
        let waiting = self.receipts_waiting.map(|waiting| waiting.to_string());
        let waiting = waiting.map(|waiting| ("receipts waiting", waiting));
        let pairs_of_user = [
            ("system_id", self.system_id.to_owned()),
            ("user_id", self.user_id.clone()),
            ("environment", self.environment().to_owned()),
            ("binds", self.binds.to_string()),
            ("per_second", self.per_second.to_string()),
            ("window", self.window.to_string()),
            ("allowed", self.origins()),
            ("gateway", self.gateway().to_owned()),
            ("created", self.created_at.clone()),
            (
                "revoked",
                self.revoked_at.clone().unwrap_or_else(|| "-".to_owned()),
            ),
        ];
        let all: Vec<_> = pairs_of_user.into_iter().chain(waiting).collect();
        pairs(&all)
    }
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

/// Shows a user, and how many receipts wait for it.
fn shown(user: &smpp_user::SmppUser, waiting: Option<i64>) -> Result<Answer, Failure> {
    let json = UserJson {
        receipts_waiting: waiting,
        ..UserJson::new(user, None)
    };
    Answer::new(json.lines(), &json)
}

const COLUMNS: [&str; 9] = [
    "SYSTEM_ID",
    "USER_ID",
    "FOR",
    "BINDS",
    "PER_SECOND",
    "WINDOW",
    "GATEWAY",
    "ALLOWED",
    "REVOKED",
];

fn listed(user: &smpp_user::SmppUser) -> Result<Row<9>, Failure> {
    let user = UserJson::new(user, None);
    let cells = [
        user.system_id.to_owned(),
        user.user_id.clone(),
        user.environment().to_owned(),
        user.binds.to_string(),
        user.per_second.to_string(),
        user.window.to_string(),
        user.gateway().to_owned(),
        user.origins(),
        user.revoked_at.clone().unwrap_or_else(|| "-".to_owned()),
    ];
    Row::new(&user, cells)
}
