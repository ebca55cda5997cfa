//! The faults of a simulation. A seed has some of it, often, rather than all of it a little.

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
    /// The connection is reset with whatever is on it.
    Reset,
    /// The carrier reads, perhaps takes, and says nothing any more.
    Silence,
    /// A response comes after its time.
    LateResponse,
    /// A response never comes.
    LostResponse,
    /// A response comes twice.
    TwiceResponse,
    /// The receipt comes before the response.
    EarlyReceipt,
    /// The receipt comes again, perhaps with another word.
    TwiceReceipt,
    /// A receipt comes for what was never sent.
    UnknownReceipt,
    /// Some receipts say that it was not delivered.
    BadEnd,
    /// Some receipts never come.
    NoReceipt,
    /// Something is said before the end.
    Acknowledged,
    /// The carrier throttles for a while.
    Throttling,
    /// The carrier's queue is full for some.
    QueueFull,
    /// Some are refused for now.
    RefusedForNow,
    /// Some are refused for good, as recipient or as sender.
    RefusedForGood,
    /// The carrier cannot be reached, or refuses binds, for a while.
    BindRefused,
    /// Receivers answer with 500 or 429.
    CallbackFails,
    /// Receivers say nothing.
    CallbackHangs,
    /// Receivers cannot be reached, or hang up.
    CallbackRefused,
    /// Receivers want no callback of this message, or not this one.
    CallbackUnwanted,
    /// The process is killed, also between a commit and its answer.
    Killed,
    /// The process is ended in order and started again.
    Restarted,
    /// The clock goes forward by minutes.
    ClockForward,
    /// The clock goes back by seconds.
    ClockBack,
    /// The disk is full for a while.
    DiskFull,
    /// Commits fail for a while.
    DiskFails,
    /// Commits take up to seconds.
    DiskSlow,
}

/// The faults of a seed: each of all with a chance that differs between seeds.
pub(crate) fn choose(dice: &mut Dice) -> BTreeSet<Fault> {
    let percent = dice.pick(&[0, 15, 30, 50, 80]);
    let all = Fault::ALL.iter().copied();
    all.filter(|_| dice.percent(percent)).collect()
}
