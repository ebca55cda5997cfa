//! The effect of a subscriber's command, in the transaction that keeps its inbound message.

use super::answers::{self, WaitingAnswer};
use crate::opt_outs;
use database::{Result, Tx};
use domain::inbound::{Command, InboundMessage};
use domain::opt_out::OptOut;
use domain::{AccountId, Recipient};

/// The command of a subscriber to an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SubscriberCommand {
    /// The account whose route without keyword has the number.
    pub account: AccountId,
    /// The subscriber.
    pub recipient: Recipient,
    /// The command.
    pub command: Command,
    /// The word of the command, which becomes the reason of an opt-out.
    pub word: String,
    /// The time at which the message is kept, Unix milliseconds.
    pub at_ms: i64,
}

/// Opts a subscriber out or in, and lets the answer of the account wait. Returns `true` if an answer
/// waits.
pub(super) async fn apply(
    tx: &mut Tx,
    message: &InboundMessage,
    command: &SubscriberCommand,
) -> Result<bool> {
    let &SubscriberCommand {
        account, recipient, ..
    } = command;
    match command.command {
        Command::Stop => {
            let opt_out = OptOut {
                id: message.id,
                account,
                recipient,
                sender: None,
                reason: Some(command.word.to_uppercase()),
                created_at_ms: command.at_ms,
            };
            opt_outs::opt_out(tx, &opt_out).await?;
        }
        Command::Start => opt_outs::opt_in(tx, account, recipient).await?,
        Command::Help => {}
    }
    let texts = answers::texts(tx, account).await?;
    let Some(body) = texts.to(command.command) else {
        return Ok(false);
    };
    let answer = WaitingAnswer {
        inbound: message.id,
        account,
        number: message.number.clone(),
        recipient,
        body: body.to_owned(),
        kept_at_ms: command.at_ms,
    };
    answers::insert(tx, &answer).await?;
    Ok(true)
}
