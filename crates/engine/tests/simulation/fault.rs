//! The faults of a simulation. A seed has few kinds of them, but often.

use super::dice::Dice;
use std::collections::BTreeSet;

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub(crate) enum Fault {
            $($(#[$doc])* $name,)*
        }

        impl Fault {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

faults! {
    /// The connection is reset with all data on it.
    Reset,
    /// The carrier still reads, and may accept submits, but answers nothing more.
    Silence,
    /// A response comes after its timeout.
    LateResponse,
    /// A response is never sent.
    LostResponse,
    /// A response is sent twice.
    TwiceResponse,
    /// A receipt is sent before the response.
    EarlyReceipt,
    /// A receipt is repeated, perhaps with another status.
    TwiceReceipt,
    /// A receipt names an unknown message.
    UnknownReceipt,
    /// Some receipts report a failure.
    BadEnd,
    /// Some receipts are never sent.
    NoReceipt,
    /// A receipt reports an intermediate status.
    Acknowledged,
    /// The carrier throttles for a while.
    Throttling,
    /// The queue of the carrier is full for some submits.
    QueueFull,
    /// Some submits are rejected for now.
    RefusedForNow,
    /// Some submits are rejected for ever, for their recipient or sender.
    RefusedForGood,
    /// The carrier cannot be reached, or rejects binds, for a while.
    BindRefused,
    /// Receivers answer with 500 or 429.
    CallbackFails,
    /// Receivers do not answer.
    CallbackHangs,
    /// Receivers cannot be reached, or close the connection.
    CallbackRefused,
    /// Receivers refuse a callback, or all callbacks of a message.
    CallbackUnwanted,
    /// The payment provider answers with 502.
    ProviderFails,
    /// The payment provider does not answer.
    ProviderHangs,
    /// The process is killed, perhaps between a commit and its answer.
    Killed,
    /// The process is shut down and started again.
    Restarted,
    /// The clock jumps forward by minutes.
    ClockForward,
    /// The clock jumps back by seconds.
    ClockBack,
    /// The disk is full for a while.
    DiskFull,
    /// Commits fail for a while.
    DiskFails,
    /// Commits take up to seconds.
    DiskSlow,
}

/// Chooses the faults of a seed. The probability of each differs between seeds.
pub(crate) fn choose(dice: &mut Dice) -> BTreeSet<Fault> {
    let percent = dice.pick(&[0, 15, 30, 50, 80]);
    let all = Fault::ALL.iter().copied();
    all.filter(|_| dice.percent(percent)).collect()
}
