//! What an operator does. All of it works on the database, whether or not a server runs.

mod callbacks;
mod configuration;
mod content;
mod operator;
mod velocity;
mod wallets;

pub use callbacks::{
    Replay, callback_attempts, create_secret, dead_callbacks, dead_origins, list_secrets,
    replay_callbacks, revoke_secrets, rotate_secret,
};
pub use configuration::reload_configuration;
pub use content::{add_content_rule, list_content_rules, remove_content_rule};
pub use operator::Operator;
pub use velocity::{paused_blocks, release_block};
pub use wallets::{Credit, credit, debit, statement};

use crate::Chance;
use domain::callback::signature::MOST_SECRETS;
use domain::token::{self, Terms, TokenHash};
use domain::velocity::Block;
use domain::{
    Account, AccountId, AccountStatus, Money, Purse, Queued, SenderFault, SenderId, SenderStatus,
    Spending, Verification, sender,
};
use store::Store;

pub use store::{
    AuditEntry, CallbackSecret, ContentRule, PausedBlock, TokenInfo, Verification as Checked,
};

/// Longest reference of a credit, name, purpose or reason, in characters.
const MOST_CHARACTERS: usize = 255;
/// Ranges of addresses that a token may be allowed from.
const MOST_RANGES: usize = 100;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// There is no such account.
    #[error("there is no account {0}: see `ogene account list`")]
    NoAccount(AccountId),
    /// What is queued of an account that may send goes out.
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
        "{MOST_SECRETS} secrets of the account sign already: wait until one ends, or revoke one, see \
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
    #[error("{0} must be 1 to {MOST_CHARACTERS} characters")]
    Length(&'static str),
    /// A token that would be good for nothing from the start.
    #[error("the token would have expired already: give a time in the future")]
    Expired,
    /// More ranges than a request should be compared with.
    #[error("a token may be allowed from at most {MOST_RANGES} ranges of addresses")]
    Ranges,
    /// The e-mail address is none.
    #[error("`{0}` is not an e-mail address")]
    Email(String),
    /// There is less in the component than is to be taken back.
    #[error("{component} holds {held} NGN, and no more than that can be taken back")]
    TooLittle {
        /// What it holds.
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

type Result<T> = std::result::Result<T, AdminError>;

fn checked(what: &'static str, text: &str) -> Result<String> {
    let text = text.trim();
    match text.chars().count() {
        1..=MOST_CHARACTERS => Ok(text.to_owned()),
        _ => Err(AdminError::Length(what)),
    }
}

/// Makes an account: active, unverified, with an empty wallet.
pub async fn create_account(
    store: &Store,
    operator: &Operator,
    name: &str,
    email: &str,
) -> Result<Account> {
    let email = checked("the e-mail address", email)?;
    if email
        .split_once('@')
        .is_none_or(|(name, host)| name.is_empty() || host.is_empty())
    {
        return Err(AdminError::Email(email));
    }
    let by = operator.now();
    let chance = Chance::system().small();
    let account = Account {
        id: AccountId::new(by.at_ms, chance),
        email,
        name: checked("the name", name)?,
        status: AccountStatus::Active,
        verification: Verification::Unverified,
        created_at_ms: by.at_ms,
    };
    store.create_account(account.clone(), by).await?;
    Ok(account)
}

/// All accounts, oldest first.
pub async fn list_accounts(store: &Store) -> Result<Vec<Account>> {
    Ok(store.accounts().await?)
}

/// An account with what its wallet holds.
pub async fn show_account(store: &Store, id: AccountId) -> Result<(Account, Purse)> {
    let account = account(store, id).await?;
    let wallet = store.wallet(id).await?.unwrap_or_default();
    Ok((account, wallet))
}

async fn account(store: &Store, id: AccountId) -> Result<Account> {
    store.account(id).await?.ok_or(AdminError::NoAccount(id))
}

/// What became of what an account had queued.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct QueuedSettled {
    /// Recipients that are cancelled.
    pub cancelled: usize,
}

/// Changes what an account may do, and what becomes of what it has queued: held where nothing is said and it may not send.
pub async fn set_status(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    status: AccountStatus,
    queued: Option<Queued>,
) -> Result<QueuedSettled> {
    let may_send = status.refusal().is_none();
    if may_send && queued.is_some() {
        return Err(AdminError::QueuedOfActive);
    }
    let queued = match queued {
        _ if may_send => Queued::Send,
        queued => queued.unwrap_or(Queued::Hold),
    };
    let by = operator.now();
    let changed = store.set_account_status(id, status, queued, by).await?;
    changed.then_some(()).ok_or(AdminError::NoAccount(id))?;
    let now_ms = operator.clock().now_ms();
    let settled = store.settle_queued(id, now_ms).await?;
    Ok(QueuedSettled {
        cancelled: settled.outcomes.len(),
    })
}

/// What becomes of what an account has queued; nothing is said of those of which all goes out.
pub async fn queued(store: &Store, id: AccountId) -> Result<Option<Queued>> {
    Ok(store.holds().await?.remove(&id))
}

/// Changes how far an account is known.
pub async fn set_verification(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    verification: Verification,
) -> Result<()> {
    let changed = store
        .set_verification(id, verification, operator.now())
        .await?;
    changed.then_some(()).ok_or(AdminError::NoAccount(id))
}

/// Limits what an account may spend in a calendar day of Lagos; `None` takes the limit away.
pub async fn set_daily_limit(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    per_day: Option<Money>,
) -> Result<()> {
    let found = store.set_daily_limit(id, per_day, operator.now()).await?;
    found.then_some(()).ok_or(AdminError::NoAccount(id))
}

/// What an account may spend in a day, and has spent.
pub async fn spending(store: &Store, id: AccountId) -> Result<Spending> {
    store.spending(id).await?.ok_or(AdminError::NoAccount(id))
}

/// Makes a token. Its text is given this once and kept nowhere.
pub async fn create_token(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    name: &str,
    terms: Terms,
) -> Result<(TokenInfo, String)> {
    account(store, id).await?;
    let by = operator.now();
    if terms
        .expires_at_ms
        .is_some_and(|expires| expires <= by.at_ms)
    {
        return Err(AdminError::Expired);
    }
    if terms.allowed.0.len() > MOST_RANGES {
        return Err(AdminError::Ranges);
    }
    let text = token::make(&Chance::system().bytes()).ok_or(AdminError::NoChance)?;
    let info = TokenInfo {
        id: format!("tok_{:016x}", Chance::system().number()),
        account: id,
        name: checked("the name", name)?,
        terms,
        created_at_ms: by.at_ms,
        revoked_at_ms: None,
    };
    let hash: TokenHash = token::hash(&text);
    store.add_token(info.clone(), hash, by).await?;
    Ok((info, text))
}

/// All tokens, or those of one account.
pub async fn list_tokens(store: &Store, account: Option<AccountId>) -> Result<Vec<TokenInfo>> {
    Ok(store.tokens(account).await?)
}

/// Revokes a token; a running server refuses it within a second.
pub async fn revoke_token(store: &Store, operator: &Operator, token: &str) -> Result<()> {
    let revoked = store.revoke_token(token, operator.now()).await?;
    revoked
        .then_some(())
        .ok_or_else(|| AdminError::NoToken(token.to_owned()))
}

/// Registers a sender ID; it waits for approval.
pub async fn register_sender(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    name: &str,
    purpose: &str,
    international: bool,
) -> Result<SenderId> {
    account(store, id).await?;
    sender::check_registration(name)?;
    let sender = SenderId {
        name: name.to_owned(),
        status: SenderStatus::Pending,
        purpose: checked("the purpose", purpose)?,
        international,
        approved_at_ms: None,
        rejection_reason: None,
    };
    let added = store.add_sender(id, sender.clone(), operator.now()).await?;
    added
        .then_some(sender)
        .ok_or_else(|| AdminError::SenderExists(name.to_owned()))
}

/// Approves, rejects or suspends a sender ID; a rejection has a reason.
pub async fn set_sender_status(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    name: &str,
    status: SenderStatus,
    reason: Option<&str>,
) -> Result<()> {
    account(store, id).await?;
    let reason = reason
        .map(|reason| checked("the reason", reason))
        .transpose()?;
    let changed = store
        .set_sender_status(id, name, status, reason.as_deref(), operator.now())
        .await?;
    changed
        .then_some(())
        .ok_or_else(|| AdminError::NoSender(name.to_owned()))
}

/// All sender IDs, or those of one account.
pub async fn list_senders(
    store: &Store,
    account: Option<AccountId>,
) -> Result<Vec<(AccountId, SenderId)>> {
    Ok(store.senders(account).await?)
}

/// The latest entries of the audit, or those about one account, the latest first.
pub async fn audit(store: &Store, id: Option<AccountId>, limit: u32) -> Result<Vec<AuditEntry>> {
    if let Some(id) = id {
        account(store, id).await?;
    }
    Ok(store.audit(id, limit).await?)
}

/// Recomputes every balance from the ledger and checks what must always hold.
pub async fn verify(store: &Store) -> Result<Checked> {
    Ok(store.verify().await?)
}
