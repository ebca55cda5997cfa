//! The script of a simulated SMSC.

use super::delay::Delay;
use super::inbound::InboundScript;
use super::random::Random;
use crate::receipt::{ReceiptIds, ReceiptState};
use crate::status::CommandStatus;

/// The behaviour of a simulator. By default it accepts every bind and message, and sends a receipt
/// of delivery at once if one is requested.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Fates by destination. The first matching rule counts.
    pub rules: Vec<Rule>,
    /// The weighted fates of all other messages. If empty, they are delivered.
    pub mix: Vec<(u32, Fate)>,
    /// Delay of `submit_sm_resp`.
    pub response_delay: Delay,
    /// Delay of the receipt after the submit. With a range, receipts change their order.
    pub receipt_delay: Delay,
    /// The form of receipts.
    pub receipts: ReceiptStyle,
    /// Faults at every Nth submit of a connection. 1 is every submit.
    pub faults: Vec<(u64, Fault)>,
    /// Submits a second on a connection, above which `ESME_RTHROTTLED` is returned.
    pub max_per_second: Option<u32>,
    /// Leaves this many submits unanswered, and then closes the connection.
    pub drop_at_window: Option<usize>,
    /// The rules of binds.
    pub binds: BindRules,
    /// Leaves `enquire_link` unanswered.
    pub ignore_enquire_link: bool,
    /// Rejects every message with a `validity_period` by `ESME_RINVEXPIRY`.
    pub refuse_validity: bool,
    /// Maximum number of unanswered receipts on a connection.
    pub receipt_window: usize,
    /// The messages of subscribers.
    pub inbound: InboundScript,
    /// Number of messages that [`Smsc::received`](super::Smsc::received) returns, the latest ones.
    /// Zero, the default, keeps none.
    pub record: usize,
    /// The last used message id.
    pub last_message_id: u64,
    /// Unix time at the start in seconds, plus the offset of the SMSC's time zone. Receipts contain
    /// it.
    pub started_at_s: u64,
    /// The seed of all random choices.
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
            inbound: InboundScript::default(),
            record: 0,
            last_message_id: 1_000_000_000,
            started_at_s: 1_795_219_200,
            seed: 1,
        }
    }
}

/// The fate of messages to destinations with this suffix.
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
    /// Accepted, with a receipt of this state.
    Receipt(ReceiptState),
    /// Accepted, without a receipt.
    Pending,
    /// Rejected with this status.
    Refuse(CommandStatus),
    /// Never answered.
    Silence,
    /// The connection is closed instead of an answer.
    Drop,
}

/// A fault of a submit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Rejected with this status, such as `ESME_RTHROTTLED` or `ESME_RMSGQFUL`.
    Refuse(CommandStatus),
    /// Never answered, and not accepted.
    Silence,
    /// Accepted with a receipt, but without a response.
    LoseResponse,
    /// Accepted with a receipt, but the response has no message id.
    NoId,
    /// The connection is closed instead of an answer.
    Drop,
    /// The connection stays open, but nothing further is answered on it.
    HalfOpen,
    /// Answered with an unused sequence number.
    WrongSequence,
    /// An unknown PDU and a malformed one precede the answer.
    Garbage,
    /// A PDU with an impossible length precedes the answer.
    BrokenLength,
    /// This number of receipts for unknown messages precedes the answer.
    Flood(u32),
    /// The SMSC sends `unbind`, answers half a second later, and closes after the `unbind_resp`.
    Unbind,
}

/// The form and order of receipts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReceiptStyle {
    /// The place of id and state.
    pub form: ReceiptForm,
    /// The difference between the ids in receipt and response.
    pub ids: ReceiptIds,
    /// The format of dates.
    pub dates: ReceiptDates,
    /// The labels of the text.
    pub labels: ReceiptLabels,
    /// Deviations, all off by default.
    pub quirks: Vec<Quirk>,
}

/// The place of id and state in a receipt.
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

/// The format of dates in a receipt.
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

/// The labels in the text of a receipt.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReceiptLabels {
    /// `id:… submit date:… text:`
    #[default]
    Usual,
    /// The same with `Text:`.
    CapitalText,
    /// All labels in upper case.
    Capitals,
    /// `submitdate:…`, and no `text:`.
    Short,
}

/// A deviation of receipts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quirk {
    /// The text is in `message_payload`.
    Payload,
    /// Receipts are `data_sm`.
    DataSm,
    /// `esm_class` is zero.
    Unmarked,
    /// Each receipt is sent twice.
    Duplicate,
    /// Receipts of the same time are sent in random order.
    Shuffle,
    /// The receipt precedes the response.
    BeforeResponse,
    /// An intermediate receipt, ENROUTE, precedes the final one.
    Intermediate,
    /// The text is UCS-2.
    Ucs2,
    /// `message_state` is 0, SCHEDULED, in any case.
    StateScheduled,
    /// `message_state` is 1, ENROUTE, in any case.
    StateEnroute,
    /// `message_state` is 6, ACCEPTED, in any case.
    StateAccepted,
    /// `message_state` has two octets.
    WideState,
    /// The text has the id of the response, and `receipted_message_id` another one.
    OwnParameterId,
    /// `receipted_message_id` has the id of the response, and the text another one.
    OwnTextId,
    /// The text has no `stat:`.
    NoStat,
    /// A NUL precedes the optional parameters.
    NulBeforeTlvs,
    /// Receipts have two segments with user data headers.
    TwoParts,
    /// Receipts have two segments with SAR parameters.
    TwoPartsSar,
    /// The sender is the name of a service instead of the recipient's number.
    NamedSource,
    /// All pages of a message to a recipient share one id and one receipt.
    OneIdPerMessage,
    /// All pages share one id.
    OneIdForAll,
    /// The text is in `message_payload`, and its `err:` has 60,000 characters.
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
    /// The accepted system ids and passwords. If empty, all are accepted.
    pub accounts: Vec<(String, String)>,
    /// Rejects every bind with this status.
    pub refuse: Option<CommandStatus>,
    /// Maximum number of binds of a system id, above which `ESME_RBINDFAIL` is returned.
    pub max: Option<usize>,
    /// Leaves out `sc_interface_version`, like an SMSC of version 3.3.
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
    fn a_rule_precedes_the_mix_and_the_mix_keeps_its_weights() {
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
}
