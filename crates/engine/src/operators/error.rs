//! The errors of operations, and the check of texts that they share.

use crate::error::StartError;
use domain::callback::signature::MAX_SECRETS;
use domain::callback_url::UrlFault;
use domain::inbound::{KeywordFault, NumberFault};
use domain::payment::AcceptFault;
use domain::velocity::Block;
use domain::{AccountId, Money, SenderFault};
use std::sync::Arc;

/// Maximum length of a reference, name, purpose or reason, in characters.
pub(super) const MAX_CHARACTERS: usize = 255;
/// Maximum number of address ranges of a token or SMPP user.
pub(super) const MAX_RANGES: usize = 100;

/// The reason why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// The cursor belongs to another list or other filters.
    #[error(
        "the cursor is not one that this list gave for these filters: repeat it as the page before showed it, or leave \
         it out for the first page"
    )]
    Cursor,
    /// A filter has a wrong form.
    #[error("{0}")]
    Filter(String),
    /// The message does not exist, or has no such recipient.
    #[error("there is no such message, or it has no such recipient: see `ogene message list`")]
    NoMessage,
    /// The message has its final state, or a carrier has it.
    #[error("{0}")]
    TooLate(&'static str),
    /// A query failed in the database.
    #[error("{0}")]
    Query(Arc<database::Error>),
    /// The account does not exist.
    #[error("there is no account {0}: see `ogene account list`")]
    NoAccount(AccountId),
    /// The status lets the account send, so its queue cannot be held or cancelled.
    #[error(
        "what an active account has queued goes out: leave --queued out, or cancel first with --status disabled \
         --queued cancel"
    )]
    QueuedOfActive,
    /// The token does not exist or is revoked.
    #[error("there is no token {0} that could be revoked: see `ogene token list`")]
    NoToken(String),
    /// The account already has a secret.
    #[error(
        "callbacks of the account are signed already: `ogene callback secret rotate` replaces the secret"
    )]
    SecretExists,
    /// The account has no secret.
    #[error("callbacks of the account are not signed: see `ogene callback secret list`")]
    NoSecret,
    /// The account has the maximum number of valid secrets.
    #[error(
        "{MAX_SECRETS} secrets of the account sign already: wait until one ends, or revoke one, see \
         `ogene callback secret list`"
    )]
    ManySecrets,
    /// The phrase contains no word.
    #[error("the phrase holds no word")]
    NoWord,
    /// The phrase is already a rule.
    #[error("`{0}` is a rule already: see `ogene content list`")]
    RuleExists(String),
    /// The carrier is not configured.
    #[error("there is no carrier `{0}`: see `ogene carrier list`")]
    NoCarrier(String),
    /// An operator paused or drained the carrier.
    #[error(
        "the carrier `{0}` is {1}, so nothing is sent over it: `ogene carrier resume {0}` ends that"
    )]
    CarrierStopped(String, &'static str),
    /// The TLS settings of the carrier are unusable.
    #[error(transparent)]
    Carrier(#[from] StartError),
    /// No operator added the phrase.
    #[error(
        "`{0}` is no rule that was added: see `ogene content list`; what is in the configuration is changed there"
    )]
    NoRule(String),
    /// The maximum number of rules is reached.
    #[error("there are {0} rules already, as many as there may be")]
    ManyRules(usize),
    /// The block is not paused.
    #[error("sending to {0} is not paused for the account: see `ogene velocity list`")]
    NotPaused(Block),
    /// The number or keyword belongs to another account.
    #[error(
        "the number belongs to another account, with this keyword: see `ogene inbound route list`, and remove that route \
         first"
    )]
    RouteTaken,
    /// The route does not exist.
    #[error("there is no route {0}: see `ogene inbound route list`")]
    NoRoute(String),
    /// The number cannot be on DND.
    #[error("the number is no Nigerian mobile number, such as 2348031234567")]
    NoDndNumber,
    /// The number has no opt-out.
    #[error("the number has not opted out of the account: see `ogene opt-out list`")]
    NoOptOut,
    /// The number of a route has a wrong form.
    #[error(transparent)]
    Number(#[from] NumberFault),
    /// The keyword of a route has a wrong form.
    #[error(transparent)]
    Keyword(#[from] KeywordFault),
    /// The URL of a route has a wrong form.
    #[error("the URL cannot be called: {0}")]
    Url(#[from] UrlFault),
    /// The sender ID does not exist.
    #[error("the account has no sender ID `{0}`: see `ogene sender-id list`")]
    NoSender(String),
    /// The account already has the sender ID.
    #[error("the account has a sender ID `{0}` already (upper and lower case do not matter)")]
    SenderExists(String),
    /// The sender ID has a wrong form.
    #[error("the sender ID cannot be registered: {0}")]
    SenderForm(#[from] SenderFault),
    /// The amount is out of range.
    #[error("the amount must be more than 0 and at most 1,000,000,000.00 naira")]
    Amount,
    /// A text is empty or too long, or has a control character.
    #[error(
        "{0} must be 1 to {MAX_CHARACTERS} characters, without line breaks and other control characters"
    )]
    Length(&'static str),
    /// The expiry of the token is in the past.
    #[error("the token would have expired already: give a time in the future")]
    Expired,
    /// The token or SMPP user has too many address ranges.
    #[error("a token or SMPP user may be allowed from at most {MAX_RANGES} ranges of addresses")]
    Ranges,
    /// The sub-account does not exist, or belongs to another account.
    #[error("there is no sub-account {0}: see `ogene sub-account list`")]
    NoSubAccount(AccountId),
    /// The SMPP user does not exist or is revoked.
    #[error("there is no SMPP user `{0}` that is not revoked: see `ogene smpp-user list`")]
    NoSmppUser(String),
    /// The mismatch of a top-up cannot be decided so.
    #[error("the mismatch cannot be decided: {0}; see `ogene top-up list`")]
    TopUp(#[from] AcceptFault),
    /// The e-mail address is malformed.
    #[error("`{0}` is not an e-mail address")]
    Email(String),
    /// The component holds less than the debit.
    #[error("{component} holds {held} NGN, and no more than that can be taken back")]
    TooLittle {
        /// The balance of the component.
        held: Money,
        /// The component.
        component: &'static str,
    },
    /// The reference was used for another credit.
    #[error(
        "the reference was credited before with {amount} NGN on {component}: use another reference for \
         another credit"
    )]
    OtherCredit {
        /// The amount of the other credit.
        amount: Money,
        /// The component of the other credit.
        component: &'static str,
    },
    /// The user does not exist.
    #[error("there is no user `{0}`: see `ogene user list`")]
    NoUser(String),
    /// Another user has the address.
    #[error("there is a user `{0}` already: `ogene user invite` adds a role in another account")]
    UserExists(String),
    /// The user is a member already.
    #[error("`{0}` has a role there already: change the role, or remove it first")]
    MemberExists(String),
    /// The user is not a member.
    #[error("the user has no role there")]
    NoMember,
    /// The role belongs to the other kind of users.
    #[error(
        "a user of an account is owner, developer or viewer, and only one without account is operator"
    )]
    Role,
    /// The member is the last of a role that somebody must have.
    #[error(
        "the last owner of an account and the last operator stay: give somebody else the role first"
    )]
    LastOwner,
    /// The account has the maximum number of members and open invitations.
    #[error(
        "there are {0} users and open invitations already, as many as there may be: remove one first"
    )]
    ManyMembers(usize),
    /// The password cannot be hashed.
    #[error("the machine has no memory to hash the password; try again")]
    NotHashed,
    /// The system returned no random bytes.
    #[error("the system gave no random bytes; try again")]
    NoRandomBytes,
}

pub(super) type Result<T> = std::result::Result<T, OperationError>;

pub(super) fn checked(what: &'static str, text: &str) -> Result<String> {
    let text = text.trim();
    match text.chars().count() {
        1..=MAX_CHARACTERS if !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => Err(OperationError::Length(what)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_trimmed_and_has_no_control_character() {
        assert_eq!(checked("the name", " web shop ").unwrap(), "web shop");
        for text in [
            "",
            " ",
            "web\0shop",
            "web\nshop",
            &"a".repeat(MAX_CHARACTERS + 1),
        ] {
            let refused = checked("the name", text).unwrap_err().to_string();
            assert!(refused.starts_with("the name must be 1 to "), "{refused}");
        }
    }
}
