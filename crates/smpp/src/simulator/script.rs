//! The behaviour of a simulated SMSC: everything that a test or a demonstration may need of one.

use super::random::Random;
use crate::receipt::{ReceiptIds, ReceiptState};
use crate::status::CommandStatus;
use std::time::Duration;

/// The behaviour of a simulator. The default takes every bind and every message, and sends a
/// receipt of delivery at once, where one is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The fates of messages to certain destinations; the first rule that fits counts.
    pub rules: Vec<Rule>,
    /// The fates of all others, each fate as often as its weight; empty: delivered.
    pub mix: Vec<(u32, Fate)>,
    /// How long `submit_sm_resp` takes.
    pub response_delay: Delay,
    /// How long after the submit the receipt follows. A range mixes their order.
    pub receipt_delay: Delay,
    /// How receipts look.
    pub receipts: ReceiptStyle,
    /// At every Nth submit of a connection (1 is every one) something goes wrong.
    pub faults: Vec<(u64, Fault)>,
    /// Submits a second that a connection may send; above it `ESME_RTHROTTLED` is the answer.
    pub max_per_second: Option<u32>,
    /// Leave this many submits unanswered, then drop the connection.
    pub drop_at_window: Option<usize>,
    /// The rules of binds.
    pub binds: BindRules,
    /// Leave `enquire_link` unanswered.
    pub ignore_enquire_link: bool,
    /// Refuse every message that has a `validity_period` with `ESME_RINVEXPIRY`.
    pub refuse_validity: bool,
    /// How many receipts may be unanswered on a connection.
    pub receipt_window: usize,
    /// How many received messages are kept for [`Smsc::received`](super::Smsc::received); the
    /// oldest are forgotten. Zero, the default, keeps none and costs nothing.
    pub record: usize,
    /// The message id before the first one.
    pub last_message_id: u64,
    /// Unix time at the start, in seconds, with the offset of the SMSC's time zone: for the dates
    /// in receipts.
    pub started_at_s: u64,
    /// The seed of all choices: equal seeds, equal choices.
    pub seed: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            mix: Vec::new(),
            response_delay: Delay::NONE,
            receipt_delay: Delay::NONE,
            receipts: ReceiptStyle::default(),
            faults: Vec::new(),
            max_per_second: None,
            drop_at_window: None,
            binds: BindRules::default(),
            ignore_enquire_link: false,
            refuse_validity: false,
            receipt_window: 1_000,
            record: 0,
            last_message_id: 1_000_000_000,
            started_at_s: 1_795_219_200,
            seed: 1,
        }
    }
}

/// The fate of messages whose destination ends like this.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// The last digits of the destination.
    pub suffix: String,
    /// The fate of the message.
    pub fate: Fate,
}

/// The fate of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fate {
    /// Accepted; the receipt has this state.
    Receipt(ReceiptState),
    /// Accepted; no receipt ever comes.
    Pending,
    /// Refused with this status.
    Refuse(CommandStatus),
    /// Never answered.
    Silence,
    /// The connection drops instead of an answer.
    Drop,
}

/// A fault of a submit, whatever its destination.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Refused with this status; `ESME_RTHROTTLED` and `ESME_RMSGQFUL` are the usual ones.
    Refuse(CommandStatus),
    /// Never answered, and forgotten.
    Silence,
    /// Accepted, and its receipt comes; only the response is lost.
    LoseResponse,
    /// Accepted, and its receipt comes; the response has no id.
    NoId,
    /// The connection drops instead of an answer.
    Drop,
    /// The connection stays open, and nothing is answered on it any more.
    HalfOpen,
    /// Answered with a sequence number that nobody used.
    WrongSequence,
    /// A PDU of no known command, and one whose fields end too early, come before the answer.
    Garbage,
    /// A PDU with a broken length comes before the answer.
    BrokenLength,
    /// So many receipts of messages that nobody sent come before the answer.
    Flood(u32),
    /// The SMSC unbinds, and answers half a second later. It closes when its `unbind` is answered.
    Unbind,
}

/// A time between two bounds, both included.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Delay {
    /// The shortest.
    pub from: Duration,
    /// The longest.
    pub to: Duration,
}

impl Delay {
    /// At once.
    pub const NONE: Self = Self::fixed(Duration::ZERO);

    /// Always the same.
    pub const fn fixed(delay: Duration) -> Self {
        Self {
            from: delay,
            to: delay,
        }
    }

    pub(super) fn pick(self, random: &mut Random) -> Duration {
        let span = self.to.saturating_sub(self.from);
        if span.is_zero() {
            return self.from;
        }
        let span = u64::try_from(span.as_micros()).unwrap_or(u64::MAX - 1);
        self.from + Duration::from_micros(random.below(span + 1))
    }
}

/// How receipts look, and in which order they come.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReceiptStyle {
    /// Where id and state are.
    pub form: ReceiptForm,
    /// How the id in the receipt differs from the one in the response.
    pub ids: ReceiptIds,
    /// How dates are written.
    pub dates: ReceiptDates,
    /// How the text is labelled.
    pub labels: ReceiptLabels,
    /// Oddities, all off by default.
    pub quirks: Vec<Quirk>,
}

/// Where a receipt has its id and state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReceiptForm {
    /// In the text only.
    Text,
    /// In optional parameters only.
    Tlv,
    /// In both.
    #[default]
    Both,
}

/// How a receipt writes its dates.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReceiptDates {
    /// `YYMMDDhhmm`
    #[default]
    Ten,
    /// `YYMMDDhhmmss`
    Twelve,
    /// `YYYYMMDDhhmmss`
    Fourteen,
}

/// How a receipt's text is labelled.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReceiptLabels {
    /// `id:… submit date:… text:`
    #[default]
    Usual,
    /// The same with `Text:`.
    CapitalText,
    /// All in capitals.
    Capitals,
    /// `submitdate:…`, and no `text:` at all.
    Short,
}

/// An oddity of receipts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quirk {
    /// The text lies in `message_payload`.
    Payload,
    /// They come as `data_sm`.
    DataSm,
    /// `esm_class` is zero.
    Unmarked,
    /// Each comes twice.
    Duplicate,
    /// Receipts that are due together come in any order.
    Shuffle,
    /// The receipt comes before the response.
    BeforeResponse,
    /// An intermediate one, ENROUTE, comes before the last.
    Intermediate,
    /// The text is UCS-2.
    Ucs2,
    /// `message_state` is 0, SCHEDULED, whatever the text has.
    StateScheduled,
    /// `message_state` is 1, ENROUTE, whatever the text has.
    StateEnroute,
    /// `message_state` is 6, ACCEPTED, whatever the text has.
    StateAccepted,
    /// `message_state` has two octets.
    WideState,
    /// `receipted_message_id` is another id than that of the response, which the text has.
    OwnParameterId,
    /// The text has another id than that of the response, which `receipted_message_id` has.
    OwnTextId,
    /// The text has no `stat:`.
    NoStat,
    /// A NUL stands before the optional parameters.
    NulBeforeTlvs,
    /// They come in two segments, which user data headers join.
    TwoParts,
    /// They come in two segments, which SAR parameters join.
    TwoPartsSar,
    /// They come from the name of a service instead of the number of the recipient.
    NamedSource,
    /// All pages of a message to a recipient have one id, and one receipt.
    OneIdPerMessage,
    /// All pages have the same id.
    OneIdForAll,
    /// The text lies in `message_payload`, and its `err:` has 60,000 characters.
    LongError,
    /// The `destination_addr` has 60,000 characters.
    LongAddress,
    /// The PDU has more than 64 KiB.
    Overlong,
}

impl ReceiptStyle {
    pub(super) fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }
}

/// The rules of binds.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct BindRules {
    /// System ids and passwords; empty: everybody.
    pub accounts: Vec<(String, String)>,
    /// Refuse every bind with this status.
    pub refuse: Option<CommandStatus>,
    /// Binds at a time per system id; beyond it `ESME_RBINDFAIL` is the answer.
    pub max: Option<usize>,
    /// Leave `sc_interface_version` out, like an SMSC of version 3.3.
    pub hide_version: bool,
}

impl Script {
    /// Returns the fate of a message to this destination.
    pub(super) fn fate(&self, destination: &[u8], random: &mut Random) -> Fate {
        let rule = self
            .rules
            .iter()
            .find(|rule| destination.ends_with(rule.suffix.as_bytes()));
        if let Some(rule) = rule {
            return rule.fate.clone();
        }
        let total: u64 = self.mix.iter().map(|&(weight, _)| u64::from(weight)).sum();
        if total == 0 {
            return Fate::Receipt(ReceiptState::Delivered);
        }
        let mut point = random.below(total);
        for (weight, fate) in &self.mix {
            let weight = u64::from(*weight);
            if point < weight {
                return fate.clone();
            }
            point -= weight;
        }
        Fate::Receipt(ReceiptState::Delivered)
    }

    /// Returns the fault of the `number`th submit of a connection.
    pub(super) fn fault(&self, number: u64) -> Option<Fault> {
        self.faults
            .iter()
            .find_map(|&(every, fault)| number.is_multiple_of(every).then_some(fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_goes_before_the_mix_and_the_mix_keeps_its_weights() {
        let script = Script {
            rules: vec![Rule {
                suffix: "02".into(),
                fate: Fate::Pending,
            }],
            mix: vec![
                (9, Fate::Receipt(ReceiptState::Delivered)),
                (1, Fate::Silence),
            ],
            ..Script::default()
        };
        let mut random = Random::new(7);
        assert_eq!(script.fate(b"2348000000002", &mut random), Fate::Pending);
        let silent = (0..10_000)
            .filter(|_| script.fate(b"1", &mut random) == Fate::Silence)
            .count();
        assert!((900..1_100).contains(&silent), "{silent}");
    }

    #[test]
    fn a_delay_stays_within_its_bounds() {
        let mut random = Random::new(7);
        let delay = Delay {
            from: Duration::from_millis(5),
            to: Duration::from_millis(9),
        };
        for _ in 0..1_000 {
            let picked = delay.pick(&mut random);
            assert!(delay.from <= picked && picked <= delay.to);
        }
    }
}
