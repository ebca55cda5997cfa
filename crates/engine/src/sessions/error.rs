//! The refusals of sign-ins, links and changes of a profile. Each sentence is shown to the user.

use crate::operators::OperationError;
use domain::user::link::LinkState;
use domain::user::passkey::{MAX_NAME_CHARACTERS, MAX_PASSKEYS};
use domain::user::password::PasswordFault;

/// The reason why a sign-in, a link or a change was refused.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// The address or the password is wrong, or the user is disabled.
    #[error("The e-mail address or the password is wrong.")]
    Wrong,
    /// The password that was given again is wrong.
    #[error("The password is wrong.")]
    WrongPassword,
    /// The code is wrong or was used.
    #[error("The code is wrong, or was used already. Wait for the next one.")]
    WrongCode,
    /// There were too many attempts.
    #[error("There were too many attempts. Try again in {retry_after_s} s.")]
    Wait {
        /// The time to wait in seconds.
        retry_after_s: i64,
    },
    /// Too many passwords are hashed at this moment.
    #[error("Many people sign in at this moment. Try again in a few seconds.")]
    Busy,
    /// The session has ended.
    #[error("The session has ended. Sign in again.")]
    Ended,
    /// The user has no session with this id.
    #[error("That session has ended already.")]
    NoSession,
    /// The user belongs to no account.
    #[error("You belong to no account. Ask its owner for an invitation.")]
    NoMember,
    /// The new password is refused.
    #[error(transparent)]
    Password(#[from] PasswordFault),
    /// The name is empty or too long.
    #[error("The name must have 1 to 255 characters.")]
    Name,
    /// The e-mail address is malformed.
    #[error("The e-mail address is not valid.")]
    Email,
    /// Another user has the address.
    #[error("A user with this e-mail address exists already.")]
    EmailTaken,
    /// The link is not open.
    #[error("The link {}. Ask for a new one.", link_state(*.0))]
    LinkClosed(LinkState),
    /// There is no such link, or its effect no longer fits.
    #[error("The link is not valid any more. Ask for a new one.")]
    NoLink,
    /// The link is for a user who is not signed in.
    #[error("The link is for another user. Sign in as that user first.")]
    OtherUser,
    /// The second factor is confirmed already, or there is none.
    #[error("The second factor was changed meanwhile. Load the page again.")]
    Changed,
    /// The answer of a passkey is wrong, or the passkey is unknown.
    #[error("The passkey was not accepted. Begin again, or use your password.")]
    Passkey,
    /// The challenge of a passkey was used, or has ended.
    #[error("The passkey took too long, or was used twice. Begin again.")]
    NoChallenge,
    /// Too many sign-ins by passkey have begun and not ended.
    #[error("Too many people use passkeys at this moment. Use your password.")]
    ManyChallenges,
    /// A user has the passkey already.
    #[error("This passkey belongs to a user already.")]
    PasskeyKnown,
    /// The user has as many passkeys as a user may have.
    #[error("You have {MAX_PASSKEYS} passkeys, which is the most. Remove one first.")]
    ManyPasskeys,
    /// The user has no such passkey.
    #[error("That passkey was removed already.")]
    NoPasskey,
    /// The name of a passkey is empty or too long.
    #[error("The name of a passkey must have 1 to {MAX_NAME_CHARACTERS} characters.")]
    PasskeyName,
    /// The operation was refused.
    #[error(transparent)]
    Operation(#[from] OperationError),
}

const fn link_state(state: LinkState) -> &'static str {
    match state {
        LinkState::Used => "was used already",
        LinkState::Expired => "has expired",
        LinkState::Open => "is open",
    }
}

pub(super) type Result<T> = std::result::Result<T, SessionError>;
