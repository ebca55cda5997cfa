//! Parses a script from the words of a command line.
//!
//! | part | form | example |
//! |---|---|---|
//! | fate | a state, `pending`, `silence`, `drop`, `refuse:STATUS` | `undeliv`, `refuse:0x0B` |
//! | rule | `SUFFIX=FATE` | `0002=expired` |
//! | mix | `FATE=WEIGHT,…` | `delivrd=95,undeliv=5` |
//! | delay | a time, or two | `200ms`, `1s..5s` |
//! | receipts | the words of [`ReceiptForm`], [`ReceiptDates`], [`ReceiptLabels`], [`Quirk`] and [`ReceiptIds`](crate::ReceiptIds) | `tlv`, `twelve`, `capitals`, `before-response`, `numeric` |
//! | inbound message | `FROM:TO:TEXT`, and the words of [`InboundForm`] and [`InboundOrder`] | `2348031234567:32811:VOTE A`, `udh`, `backward` |
//! | fault | `N=FAULT`: `throttle`, `queue-full`, `refuse:STATUS`, `silence`, `lose-response`, `no-id`, `drop`, `half-open`, `wrong-sequence`, `garbage`, `broken-length`, `flood:COUNT`, `unbind` | `100=throttle` |

use super::delay::Delay;
use super::inbound::{Inbound, InboundForm, InboundOrder};
use super::script::{Fate, Fault, Quirk, ReceiptDates, ReceiptForm, ReceiptLabels, Rule};
use crate::receipt::ReceiptState;
use crate::status::CommandStatus;
use std::str::FromStr;
use std::time::Duration;

/// Declares the words of an enum, and its parser.
macro_rules! words {
    ($type:ident, $what:literal, $($word:literal => $variant:ident),+) => {
        impl $type {
            /// All variants with their words.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!(
                        concat!("\"{}\" is no ", $what, ": {}"),
                        text,
                        [$($word),+].join(", "),
                    )),
                }
            }
        }
    };
}

words!(ReceiptForm, "form of receipts", "text" => Text, "tlv" => Tlv, "both" => Both);
words!(ReceiptDates, "form of dates", "ten" => Ten, "twelve" => Twelve, "fourteen" => Fourteen);
words!(
    ReceiptLabels, "form of labels",
    "usual" => Usual, "capital-text" => CapitalText, "capitals" => Capitals, "short" => Short
);
words!(
    InboundForm, "form of inbound messages",
    "whole" => Whole, "payload" => Payload, "udh" => Udh, "udh-wide" => UdhWide, "sar" => Sar
);
words!(
    InboundOrder, "order of pages",
    "forward" => Forward, "backward" => Backward, "shuffled" => Shuffled
);
words!(
    Quirk, "quirk",
    "payload" => Payload, "data-sm" => DataSm, "unmarked" => Unmarked, "duplicate" => Duplicate,
    "shuffle" => Shuffle, "before-response" => BeforeResponse, "intermediate" => Intermediate,
    "ucs2" => Ucs2, "state-scheduled" => StateScheduled, "state-enroute" => StateEnroute,
    "state-accepted" => StateAccepted, "wide-state" => WideState, "own-parameter-id" => OwnParameterId,
    "own-text-id" => OwnTextId, "no-stat" => NoStat, "nul-before-tlvs" => NulBeforeTlvs,
    "two-parts" => TwoParts, "two-parts-sar" => TwoPartsSar, "named-source" => NamedSource,
    "one-id-per-message" => OneIdPerMessage, "one-id-for-all" => OneIdForAll,
    "long-error" => LongError, "long-address" => LongAddress, "overlong" => Overlong
);

/// Parses a status in decimal or, after `0x`, in hexadecimal.
pub fn parse_status(text: &str) -> Result<CommandStatus, String> {
    let number = match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => text.parse(),
    };
    number
        .map(CommandStatus)
        .map_err(|_| format!("\"{text}\" is not a status: write a number such as 88 or 0x58"))
}

/// Parses the fate of a message.
pub fn parse_fate(text: &str) -> Result<Fate, String> {
    if let Some(status) = text.strip_prefix("refuse:") {
        return parse_status(status).map(Fate::Refuse);
    }
    match text {
        "pending" => Ok(Fate::Pending),
        "silence" => Ok(Fate::Silence),
        "drop" => Ok(Fate::Drop),
        word => match ReceiptState::from_word(word) {
            ReceiptState::Other(_) => Err(format!(
                "\"{word}\" is no fate: delivrd, undeliv, expired, rejectd, deleted, failed, unknown, \
                 acceptd, enroute, pending, silence, drop or refuse:STATUS"
            )),
            state => Ok(Fate::Receipt(state)),
        },
    }
}

/// Parses the fate of messages to some destinations.
pub fn parse_rule(text: &str) -> Result<Rule, String> {
    let (suffix, fate) = text
        .split_once('=')
        .ok_or_else(|| format!("\"{text}\" is no rule: write SUFFIX=FATE"))?;
    if suffix.is_empty() || !suffix.bytes().all(|octet| octet.is_ascii_digit()) {
        return Err(format!("\"{suffix}\" is not the end of a number"));
    }
    let fate = parse_fate(fate)?;
    Ok(Rule {
        suffix: suffix.to_owned(),
        fate,
    })
}

/// Parses fates with their weights.
pub fn parse_mix(text: &str) -> Result<Vec<(u32, Fate)>, String> {
    text.split(',')
        .map(|part| {
            let (fate, weight) = part
                .split_once('=')
                .ok_or_else(|| format!("\"{part}\" is no share: write FATE=WEIGHT"))?;
            let weight = weight
                .parse()
                .map_err(|_| format!("\"{weight}\" is not a weight: write a whole number"))?;
            Ok((weight, parse_fate(fate)?))
        })
        .collect()
}

/// Parses a time or a range of times.
pub fn parse_delay(text: &str) -> Result<Delay, String> {
    let Some((from, to)) = text.split_once("..") else {
        return parse_time(text).map(Delay::fixed);
    };
    let (from, to) = (parse_time(from)?, parse_time(to)?);
    if from > to {
        return Err(format!("\"{text}\": the shorter time comes first"));
    }
    Ok(Delay { from, to })
}

/// Parses an inbound message. The text may have colons.
pub fn parse_inbound(text: &str) -> Result<Inbound, String> {
    let unknown = || format!("\"{text}\" is no inbound message: write FROM:TO:TEXT");
    let mut parts = text.splitn(3, ':');
    let mut number = || {
        let number = parts.next().ok_or_else(unknown)?;
        let digits = number.strip_prefix('+').unwrap_or(number);
        let is_number = (3..=15).contains(&digits.len());
        if !is_number || !digits.bytes().all(|octet| octet.is_ascii_digit()) {
            return Err(format!("\"{number}\" is not a number of 3 to 15 digits"));
        }
        Ok(digits.to_owned())
    };
    let (from, to) = (number()?, number()?);
    let text = parts.next().filter(|text| !text.is_empty());
    Ok(Inbound {
        from,
        to,
        text: text.ok_or_else(unknown)?.to_owned(),
    })
}

/// Parses a fault with the interval of submits at which it occurs.
pub fn parse_fault(text: &str) -> Result<(u64, Fault), String> {
    let (every, fault) = text
        .split_once('=')
        .ok_or_else(|| format!("\"{text}\" is no fault: write N=FAULT"))?;
    let every = every
        .parse()
        .ok()
        .filter(|&every| every > 0)
        .ok_or_else(|| format!("\"{every}\" is not a number of submits"))?;
    let fault = match fault {
        "throttle" => Fault::Refuse(CommandStatus::RTHROTTLED),
        "queue-full" => Fault::Refuse(CommandStatus::RMSGQFUL),
        "silence" => Fault::Silence,
        "lose-response" => Fault::LoseResponse,
        "no-id" => Fault::NoId,
        "drop" => Fault::Drop,
        "half-open" => Fault::HalfOpen,
        "wrong-sequence" => Fault::WrongSequence,
        "garbage" => Fault::Garbage,
        "broken-length" => Fault::BrokenLength,
        "unbind" => Fault::Unbind,
        other => parse_valued_fault(other)?,
    };
    Ok((every, fault))
}

/// Parses a fault with a value after a colon.
fn parse_valued_fault(text: &str) -> Result<Fault, String> {
    match text.split_once(':') {
        Some(("refuse", status)) => parse_status(status).map(Fault::Refuse),
        Some(("flood", count)) => count
            .parse()
            .map(Fault::Flood)
            .map_err(|_| format!("\"{count}\" is not a number of receipts")),
        _ => Err(format!(
            "\"{text}\" is no fault: throttle, queue-full, refuse:STATUS, silence, lose-response, no-id, \
             drop, half-open, wrong-sequence, garbage, broken-length, flood:COUNT or unbind"
        )),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let unknown = || format!("\"{text}\" is not a time: write it like 200ms, 5s or 2m");
    let split = text
        .find(|letter: char| !letter.is_ascii_digit())
        .ok_or_else(unknown)?;
    let (number, unit) = text.split_at(split);
    let number: u32 = number.parse().map_err(|_| unknown())?;
    let unit = match unit {
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_mins(1),
        "h" => Duration::from_hours(1),
        _ => return Err(unknown()),
    };
    Ok(unit * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parsed_to_their_meaning() {
        assert_eq!(
            parse_rule("0002=undeliv").unwrap().fate,
            Fate::Receipt(ReceiptState::Undeliverable)
        );
        assert_eq!(
            parse_fate("refuse:0x0B"),
            Ok(Fate::Refuse(CommandStatus::RINVDSTADR))
        );
        assert_eq!(
            parse_mix("delivrd=95,silence=5"),
            Ok(vec![
                (95, Fate::Receipt(ReceiptState::Delivered)),
                (5, Fate::Silence)
            ])
        );
        assert_eq!(
            parse_delay("100ms..2s"),
            Ok(Delay {
                from: Duration::from_millis(100),
                to: Duration::from_secs(2)
            })
        );
        assert_eq!(
            parse_fault("100=throttle"),
            Ok((100, Fault::Refuse(CommandStatus::RTHROTTLED)))
        );
        assert_eq!(parse_fault("1=flood:500"), Ok((1, Fault::Flood(500))));
        assert_eq!("before-response".parse(), Ok(Quirk::BeforeResponse));
        assert_eq!("twelve".parse(), Ok(ReceiptDates::Twelve));
        assert_eq!("udh-wide".parse(), Ok(InboundForm::UdhWide));
        assert_eq!("backward".parse(), Ok(InboundOrder::Backward));
        let inbound = Inbound {
            from: "2348031234567".to_owned(),
            to: "32811".to_owned(),
            text: "VOTE: A".to_owned(),
        };
        assert_eq!(parse_inbound("+2348031234567:32811:VOTE: A"), Ok(inbound));
    }

    #[test]
    fn a_word_that_is_not_known_is_named() {
        for wrong in [
            parse_rule("undeliv").unwrap_err(),
            parse_rule("x=undeliv").unwrap_err(),
            parse_fate("maybe").unwrap_err(),
            parse_mix("delivrd").unwrap_err(),
            parse_delay("5").unwrap_err(),
            parse_delay("2s..1s").unwrap_err(),
            parse_fault("0=drop").unwrap_err(),
            parse_inbound("2348031234567:32811").unwrap_err(),
            parse_inbound("2348031234567:32811:").unwrap_err(),
            parse_inbound("Ada:32811:Hi").unwrap_err(),
            parse_inbound("hello").unwrap_err(),
            parse_fault("5=flood").unwrap_err(),
            parse_fault("5=flood:many").unwrap_err(),
            "xml".parse::<ReceiptForm>().unwrap_err(),
        ] {
            assert!(wrong.starts_with('"') && wrong.len() > 20, "{wrong}");
        }
    }
}
