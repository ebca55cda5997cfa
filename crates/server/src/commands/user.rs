//! `ogene user`

use super::answer::{Answer, Failure, pairs};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use crate::link_mail::{Delivery, deliver};
use clap::{Args, Subcommand};
use domain::AccountId;
use domain::user::link::LinkPurpose;
use domain::user::role::Role;
use domain::user::{UserId, UserStatus};
use engine::operators::{LinkText, Membership, Operations, User as Person};
use serde::Serialize;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum User {
    /// Create a user, and mail or print a one-time link to choose a password
    #[command(
        after_help = "Examples: ogene user create --email ada@example.ng --name Ada --operator\n          \
        ogene user create --email uche@example.ng --name Uche --account 1882399170363392 --role owner"
    )]
    Create {
        #[command(flatten)]
        email: EmailArgs,
        /// The user's name
        #[arg(long)]
        name: String,
        #[command(flatten)]
        place: PlaceArgs,
        #[command(flatten)]
        link: LinkArgs,
    },
    /// List users, newest first
    #[command(after_help = "Example: ogene user list")]
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show a user with all roles
    #[command(after_help = "Example: ogene user show --email ada@example.ng")]
    Show {
        #[command(flatten)]
        email: EmailArgs,
    },
    /// Invite a user, known or not, and mail or print a one-time link that is good for 7 days
    #[command(
        after_help = "Example: ogene user invite --email uche@example.ng --account 1882399170363392 --role viewer"
    )]
    Invite {
        #[command(flatten)]
        email: EmailArgs,
        #[command(flatten)]
        place: PlaceArgs,
        #[command(flatten)]
        link: LinkArgs,
    },
    /// Give a user another role in an account; the user signs in again
    #[command(
        name = "set-role",
        after_help = "Example: ogene user set-role --email uche@example.ng --account 1882399170363392 --role owner"
    )]
    SetRole {
        #[command(flatten)]
        email: EmailArgs,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Take a user's role in an account, or that of an operator
    #[command(
        after_help = "Example: ogene user remove --email uche@example.ng --account 1882399170363392"
    )]
    Remove {
        #[command(flatten)]
        email: EmailArgs,
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id, required_unless_present = "operator")]
        account: Option<AccountId>,
        /// Take the role of an operator
        #[arg(long, conflicts_with = "account")]
        operator: bool,
    },
    /// Mail or print a one-time link to choose a new password; it is good for 30 minutes
    #[command(after_help = "Example: ogene user reset --email ada@example.ng")]
    Reset {
        #[command(flatten)]
        email: EmailArgs,
        #[command(flatten)]
        link: LinkArgs,
    },
    /// Remove the second factor of a user who lost it; check who asks for it first
    #[command(
        name = "remove-second-factor",
        after_help = "Example: ogene user remove-second-factor --email ada@example.ng"
    )]
    RemoveSecondFactor {
        #[command(flatten)]
        email: EmailArgs,
    },
    /// Remove all passkeys of a user, such as of one whose device was stolen
    #[command(
        name = "remove-passkeys",
        after_help = "Example: ogene user remove-passkeys --email ada@example.ng"
    )]
    RemovePasskeys {
        #[command(flatten)]
        email: EmailArgs,
    },
    /// Shut a user out: all sessions end at once, on all nodes
    #[command(after_help = "Example: ogene user disable --email ada@example.ng")]
    Disable {
        #[command(flatten)]
        email: EmailArgs,
    },
    /// Let a user in again
    #[command(after_help = "Example: ogene user enable --email ada@example.ng")]
    Enable {
        #[command(flatten)]
        email: EmailArgs,
    },
}

/// The user of a command.
#[derive(Args)]
pub(super) struct EmailArgs {
    /// The user's e-mail address; case does not count
    #[arg(long)]
    email: String,
}

/// The way of a link to its user.
#[derive(Args)]
pub(super) struct LinkArgs {
    /// Print the link, even if `mail.server` is set
    #[arg(long)]
    print: bool,
}

/// The account and role of a user, or the role of an operator.
#[derive(Args)]
pub(super) struct PlaceArgs {
    /// The account's `user_id`
    #[arg(long, value_name = "ID", value_parser = account_id, required_unless_present = "operator")]
    account: Option<AccountId>,
    /// `owner`, `developer` or `viewer`
    #[arg(long, value_parser = role, required_unless_present = "operator")]
    role: Option<Role>,
    /// The user runs the whole installation instead
    #[arg(long, conflicts_with_all = ["account", "role"])]
    operator: bool,
}

impl PlaceArgs {
    fn place(self) -> (Option<AccountId>, Role) {
        (self.account, self.role.unwrap_or(Role::Operator))
    }
}

fn role(text: &str) -> Result<Role, String> {
    let found = Role::OF_ACCOUNT
        .into_iter()
        .find(|role| role.as_str() == text);
    found.ok_or_else(|| "give owner, developer or viewer".to_owned())
}

impl User {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        // The first operator may be the first row of an installation.
        let operations = match &self {
            Self::Create { .. } => context.open_or_make().await?,
            _ => context.open().await?,
        };
        let users = operations.users();
        match self {
            Self::Create {
                email,
                name,
                place,
                link: way,
            } => {
                let (account, role) = place.place();
                let (id, link) = users.create(&email.email, &name, account, role).await?;
                linked(context, id, &link, &way).await
            }
            Self::List { page } => {
                let read = async |request| operations.users().list(&request).await;
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Show { email } => {
                let (user, memberships) = users.show(&email.email).await?;
                shown(&user, &memberships)
            }
            Self::Invite {
                email,
                place,
                link: way,
            } => {
                let (account, role) = place.place();
                let (id, link) = users.invite(&email.email, account, role).await?;
                linked(context, id, &link, &way).await
            }
            Self::SetRole { email, place } => {
                let (user, _) = users.show(&email.email).await?;
                let (account, role) = place.place();
                operations.users().set_role(user.id, account, role).await?;
                let word = role.as_str();
                let json = json!({ "id": user.id.to_string(), "role": word });
                Answer::new(format!("{} is {word} now.", user.email), &json)
            }
            Self::Remove { email, account, .. } => remove(&operations, &email.email, account).await,
            Self::Reset { email, link: way } => {
                let (id, link) = users.reset(&email.email).await?;
                linked(context, id, &link, &way).await
            }
            Self::RemoveSecondFactor { email } => {
                let id = users.remove_second_factor(&email.email).await?;
                let json = json!({ "id": id.to_string(), "second_factor": false });
                let text = format!("{} signs in by password alone now.", email.email);
                Answer::new(text, &json)
            }
            Self::RemovePasskeys { email } => remove_passkeys(&operations, &email.email).await,
            Self::Disable { email } => set_status(&operations, email, UserStatus::Disabled).await,
            Self::Enable { email } => set_status(&operations, email, UserStatus::Active).await,
        }
    }
}

async fn remove(
    operations: &Operations,
    email: &str,
    account: Option<AccountId>,
) -> Result<Answer, Failure> {
    let (user, _) = operations.users().show(email).await?;
    operations.users().remove(user.id, account).await?;
    let json = json!({ "id": user.id.to_string(), "removed": true });
    Answer::new(format!("{} has no role there any more.", user.email), &json)
}

async fn remove_passkeys(operations: &Operations, email: &str) -> Result<Answer, Failure> {
    let id = operations.users().remove_passkeys(email).await?;
    let json = json!({ "id": id.to_string(), "passkeys": 0 });
    Answer::new(format!("{email} has no passkeys any more."), &json)
}

async fn set_status(
    operations: &Operations,
    email: EmailArgs,
    status: UserStatus,
) -> Result<Answer, Failure> {
    let id = operations.users().set_status(&email.email, status).await?;
    let json = json!({ "id": id.to_string(), "status": status.as_str() });
    Answer::new(
        format!("{} is {} now.", email.email, status.as_str()),
        &json,
    )
}

/// Sends a one-time link by mail, or returns it in the answer. Its address begins as the
/// configuration says.
async fn linked(
    context: &Context,
    id: UserId,
    link: &LinkText,
    way: &LinkArgs,
) -> Result<Answer, Failure> {
    let config = context.config()?;
    let address = config.link(&link.secret, config.http.listen);
    let ends = lagos_time(link.expires_at_ms);
    let purpose = match link.purpose {
        LinkPurpose::Invitation => "join",
        _ => "choose a password",
    };
    let mail = config.mail.as_ref().filter(|_| !way.print);
    let delivery = deliver(mail, link, &address).await;
    let is_mailed = matches!(delivery, Delivery::Mailed);
    let mut json = json!({
        "id": id.to_string(),
        "mailed": is_mailed,
        "expires_at": ends,
    });
    if is_mailed {
        let text = format!(
            "A mail with a link to {purpose} is on its way to {}. It is good once, until {ends}.",
            link.email
        );
        return Answer::new(text, &json);
    }
    json["link"] = json!(address);
    let fault = delivery.fault();
    if let Some(fault) = &fault {
        json["mail_fault"] = json!(fault);
    }
    let begin = fault.map_or_else(String::new, |fault| format!("{fault}\n\n"));
    let text = format!(
        "{begin}{address}\n\nGive this link to the user, to {purpose}. It is good once, until {ends}, and is not shown again."
    );
    Answer::new(text, &json)
}

#[derive(Serialize)]
struct UserJson<'a> {
    id: String,
    email: &'a str,
    name: &'a str,
    status: &'static str,
    has_password: bool,
    has_second_factor: bool,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<Vec<RoleJson<'a>>>,
}

#[derive(Serialize)]
struct RoleJson<'a> {
    /// The account, absent for an operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a str>,
    role: &'static str,
}

impl<'a> UserJson<'a> {
    fn new(user: &'a Person, memberships: Option<&'a [Membership]>) -> Self {
        let role = |one: &'a Membership| RoleJson {
            user_id: one.account.map(|account| account.to_string()),
            account: one.account.map(|_| one.account_name.as_str()),
            role: one.role.as_str(),
        };
        Self {
            id: user.id.to_string(),
            email: &user.email,
            name: &user.name,
            status: user.status.as_str(),
            has_password: user.has_password,
            has_second_factor: user.has_second_factor,
            created_at: lagos_time(user.created_at_ms),
            roles: memberships.map(|all| all.iter().map(role).collect()),
        }
    }
}

fn shown(user: &Person, memberships: &[Membership]) -> Result<Answer, Failure> {
    let json = UserJson::new(user, Some(memberships));
    let roles = memberships.iter().map(|one| match one.account {
        Some(account) => format!("{} of {account} ({})", one.role.as_str(), one.account_name),
        None => one.role.as_str().to_owned(),
    });
    let roles: Vec<String> = roles.collect();
    let lines = pairs(&[
        ("id", json.id.clone()),
        ("email", user.email.clone()),
        ("name", user.name.clone()),
        ("status", json.status.to_owned()),
        ("password", yes(user.has_password)),
        ("second factor", yes(user.has_second_factor)),
        ("created", json.created_at.clone()),
        ("roles", roles.join(", ")),
    ]);
    Answer::new(lines, &json)
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

const COLUMNS: [&str; 6] = ["ID", "CREATED", "STATUS", "SECOND_FACTOR", "EMAIL", "NAME"];

fn listed(user: &Person) -> Result<Row<6>, Failure> {
    let json = UserJson::new(user, None);
    let cells = [
        json.id.clone(),
        json.created_at.clone(),
        json.status.to_owned(),
        yes(user.has_second_factor),
        user.email.clone(),
        user.name.clone(),
    ];
    Row::new(&json, cells)
}
