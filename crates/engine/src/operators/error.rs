//! Why a command is refused, and the checks that all of them share.

use domain::callback::signature::MAX_SECRETS;
use domain::velocity::Block;
use domain::{AccountId, Money, SenderFault};

/// Longest reference of a credit, name, purpose or reason, in characters.
pub(super) const MAX_CHARACTERS: usize = 255;
/// Ranges of addresses that a token may be allowed from.
pub(super) const MAX_RANGES: usize = 100;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// A cursor that the list did not give.
    #[error(
        "the cursor is not one that this list gave for these filters: repeat it as the page before showed it, or leave \
         it out for the first page"
    )]
    Cursor,
    /// There is no such account.
    #[error("there is no account {0}: see `ogene account list`")]
    NoAccount(AccountId),
    /// The queue of an account that may send goes out.
    #[error(
        "what an active account has queued goes out: leave --queued out, or cancel first with --status disabled \
         --queued cancel"
    )]
    QueuedOfActive,
    /// There is no such token, or it is revoked already.
    #[error("there is no token {0} that could be revoked: see `ogene token list`")]
    NoToken(String),
    /// The account has a secret already.
    #[error(
        "callbacks of the account are signed already: `ogene callback secret rotate` replaces the secret"
    )]
    SecretExists,
    /// The account has no secret.
    #[error("callbacks of the account are not signed: see `ogene callback secret list`")]
    NoSecret,
    /// It was rotated often lately.
    #[error(
        "{MAX_SECRETS} secrets of the account sign already: wait until one ends, or revoke one, see \
         `ogene callback secret list`"
    )]
    ManySecrets,
    /// A phrase without a word.
    #[error("the phrase holds no word")]
    NoWord,
    /// The phrase is there already.
    #[error("`{0}` is a rule already: see `ogene content list`")]
    RuleExists(String),
    /// There is no such phrase.
    #[error(
        "`{0}` is no rule that was added: see `ogene content list`; what is in the configuration is changed there"
    )]
    NoRule(String),
    /// More rules than a text should be compared with.
    #[error("there are {0} rules already, as many as there may be")]
    ManyRules(usize),
    /// The block is not paused.
    #[error("sending to {0} is not paused for the account: see `ogene velocity list`")]
    NotPaused(Block),
    /// There is no such sender ID.
    #[error("the account has no sender ID `{0}`: see `ogene sender-id list`")]
    NoSender(String),
    /// The account has it already.
    #[error("the account has a sender ID `{0}` already (upper and lower case do not matter)")]
    SenderExists(String),
    /// The sender ID is not of the right form.
    #[error("the sender ID cannot be registered: {0}")]
    SenderForm(#[from] SenderFault),
    /// An amount that cannot be credited.
    #[error("the amount must be more than 0 and at most 1,000,000,000.00 naira")]
    Amount,
    /// A text is missing or too long.
    #[error("{0} must be 1 to {MAX_CHARACTERS} characters")]
    Length(&'static str),
    /// A token that would be good for nothing from the start.
    #[error("the token would have expired already: give a time in the future")]
    Expired,
    /// More ranges than a request should be compared with.
    #[error("a token may be allowed from at most {MAX_RANGES} ranges of addresses")]
    Ranges,
    /// The e-mail address is none.
    #[error("`{0}` is not an e-mail address")]
    Email(String),
    /// There is less in the component than is to be taken back.
    #[error("{component} holds {held} NGN, and no more than that can be taken back")]
    TooLittle {
        /// The amount that it holds.
        held: Money,
        /// The component.
        component: &'static str,
    },
    /// The reference was credited with something else.
    #[error(
        "the reference was credited before with {amount} NGN on {component}: use another reference for \
         another credit"
    )]
    OtherCredit {
        /// The amount of then.
        amount: Money,
        /// The component of then.
        component: &'static str,
    },
    /// The system has no random bytes.
    #[error("the system gave no random bytes; try again")]
    NoChance,
}

pub(super) type Result<T> = std::result::Result<T, OperationError>;

pub(super) fn checked(what: &'static str, text: &str) -> Result<String> {
    let text = text.trim();
    match text.chars().count() {
        1..=MAX_CHARACTERS => Ok(text.to_owned()),
        _ => Err(OperationError::Length(what)),
    }
}
