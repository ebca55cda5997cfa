//! Gateways: their prices, terms and carriers.

use crate::account::Environment;
use crate::ids::AccountId;
use crate::leg::Leg;
use crate::money::Money;
use crate::named_enum;
use crate::network::NumberPlan;
use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use crate::respected::Respected;
use crate::transactional::CodeWords;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

named_enum! {
    /// The gateway of a send, which determines its price and route.
    pub enum Gateway {
        /// Ordinary: undelivered recipients are refunded.
        DirectRefund = "direct-refund",
        /// Approved corporate: it allows transactional text, and refunds nothing after submission.
        DirectCorporate = "direct-corporate",
        /// One-time passwords: the highest priority and a short validity.
        Otp = "otp",
        /// Ordinary first, then corporate if that fails.
        DualBackup = "dual-backup",
        /// Numbers of any country.
        International = "international",
    }
}

impl Gateway {
    /// Parses the name or a numeric alias. Empty and `0` are the default.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "" | "0" | "1" => Some(Self::DirectRefund),
            "2" | "6" | "corporate" => Some(Self::DirectCorporate),
            "7" => Some(Self::International),
            "8" => Some(Self::Otp),
            name => Self::from_name(name),
        }
    }

    /// Parses the older parameter `dnd`.
    pub fn parse_dnd(text: &str) -> Option<Self> {
        match text.trim() {
            "" | "0" | "1" => Some(Self::DirectRefund),
            "2" | "3" | "6" => Some(Self::DirectCorporate),
            "4" | "5" => Some(Self::DualBackup),
            _ => None,
        }
    }
}

/// The condition for appending the sender ID to the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AppendSender {
    /// Never.
    None,
    /// If the carrier replaces the sender ID.
    Hosted,
    /// Always.
    All,
}

impl AppendSender {
    /// Parses the name or the older number. Empty and `0` are the default.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        match text.trim() {
            "" | "0" | "hosted" | "2" => Ok(Self::Hosted),
            "none" | "1" => Ok(Self::None),
            "all" | "3" => Ok(Self::All),
            _ => Err(Refusal::Malformed(
                "`append_sender` must be none, hosted or all.".to_owned(),
            )),
        }
    }
}

/// The priority of a batch. Lower values are sent first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Priority {
    /// One-time passwords.
    Otp = 0,
    /// Sends to few recipients, and retries.
    Normal = 1,
    /// Campaigns.
    Bulk = 2,
}

/// Number of recipients above which a send is a campaign.
const BULK_FROM: usize = 50;

impl Priority {
    /// All priorities in order.
    pub const ALL: [Self; 3] = [Self::Otp, Self::Normal, Self::Bulk];

    /// Returns the stored number.
    pub const fn rank(self) -> i64 {
        self as i64
    }

    /// Returns the priority of a stored number.
    pub fn from_rank(rank: i64) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|priority| priority.rank() == rank)
    }

    /// Returns the priority of a send.
    pub fn of(gateway: Gateway, recipients: usize) -> Self {
        match gateway {
            Gateway::Otp => Self::Otp,
            Gateway::DirectRefund
            | Gateway::DirectCorporate
            | Gateway::DualBackup
            | Gateway::International => {
                if recipients >= BULK_FROM {
                    Self::Bulk
                } else {
                    Self::Normal
                }
            }
        }
    }
}

/// The prices of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Price {
    /// The price of a plain page.
    pub plain: Money,
    /// The price of a Unicode page.
    pub unicode: Money,
}

/// The prices of a gateway: the price of the account, else of the network, else of the gateway.
#[derive(Clone, Debug)]
pub struct Tariff {
    /// The price of the gateway.
    pub base: Price,
    /// Prices by index of the network in the number plan.
    pub networks: Vec<Option<Price>>,
    /// Prices of single accounts.
    pub accounts: HashMap<AccountId, Price>,
}

impl Tariff {
    /// Returns the price of a page to `network` for `account`.
    pub fn price(&self, account: AccountId, network: Option<u8>) -> Price {
        let own = self.accounts.get(&account).copied();
        own.unwrap_or_else(|| self.list_price(network))
    }

    /// Returns the price of a page to `network` for accounts without a price of their own.
    pub fn list_price(&self, network: Option<u8>) -> Price {
        network
            .and_then(|index| self.networks.get(usize::from(index)).copied().flatten())
            .unwrap_or(self.base)
    }
}

/// The carriers of a gateway in order of preference, as indexes into [`Rulebook::carriers`].
#[derive(Clone, Debug, Default)]
pub struct Preference {
    /// The carriers for networks without a list of their own.
    pub default: Vec<usize>,
    /// Lists by index of the network in the number plan.
    pub networks: Vec<Option<Vec<usize>>>,
}

impl Preference {
    /// Returns the carriers for numbers of `network`.
    pub fn carriers(&self, network: Option<u8>) -> &[usize] {
        network
            .and_then(|index| self.networks.get(usize::from(index)))
            .and_then(Option::as_ref)
            .unwrap_or(&self.default)
    }

    /// Returns the next carrier after `carrier` for `network`.
    pub fn after(&self, network: Option<u8>, carrier: usize) -> Option<usize> {
        let carriers = self.carriers(network);
        let position = carriers.iter().position(|&other| other == carrier)?;
        carriers.get(position + 1).copied()
    }
}

/// The policy for a recipient whose submit has no known outcome.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InDoubt {
    /// The recipient waits for a receipt, and is then sent once more.
    Resend {
        /// The time to wait, milliseconds.
        hold_ms: i64,
    },
    /// The recipient only waits for a receipt, and is not sent again.
    Hold,
}

/// The two legs of `dual-backup`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Legs {
    /// The first gateway.
    pub first: Gateway,
    /// The gateway after the first one fails or has no receipt.
    pub second: Gateway,
    /// Time after which the second leg is sent without a receipt, milliseconds.
    pub timeout_ms: i64,
}

/// Hours of the day (Africa/Lagos) in which a gateway holds its messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QuietHours {
    /// First quiet minute of the day.
    pub from_minute: u16,
    /// First minute after the quiet hours.
    pub until_minute: u16,
}

/// Lagos is one hour ahead of UTC all year.
pub(crate) const LAGOS_OFFSET_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;
const DAY_MINUTES: i64 = 24 * 60;

impl QuietHours {
    /// Returns when a message due at `due_ms` may be sent: then, or at the end of quiet hours.
    pub fn due(self, due_ms: i64) -> i64 {
        self.around(due_ms).map_or(due_ms, |(_, end_ms)| end_ms)
    }

    /// Returns the due time before which a message may be sent by `at_ms`. In quiet hours that is
    /// their begin.
    pub fn allowed_before(self, at_ms: i64) -> i64 {
        self.around(at_ms).map_or(at_ms, |(start_ms, _)| start_ms)
    }

    /// Returns the begin and end of the quiet hours at a time.
    fn around(self, at_ms: i64) -> Option<(i64, i64)> {
        let minute_now = (at_ms + LAGOS_OFFSET_MS).div_euclid(MINUTE_MS);
        let minute = minute_now.rem_euclid(DAY_MINUTES);
        let (from, until) = (i64::from(self.from_minute), i64::from(self.until_minute));
        let since_start = (minute - from).rem_euclid(DAY_MINUTES);
        let length = (until - from).rem_euclid(DAY_MINUTES);
        let start = minute_now - since_start;
        let moment = |minute: i64| minute * MINUTE_MS - LAGOS_OFFSET_MS;
        (since_start < length).then(|| (moment(start), moment(start + length)))
    }
}

/// The form of the configuration: `20:00-08:00`.
impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, until] = [self.from_minute, self.until_minute].map(|at| (at / 60, at % 60));
        write!(
            f,
            "{:02}:{:02}-{:02}:{:02}",
            from.0, from.1, until.0, until.1
        )
    }
}

/// Longest wait for receipts. Later receipts match no recipient, since carriers may reuse ids.
pub const MAX_RECEIPT_TIMEOUT: Duration = Duration::from_hours(7 * 24);

/// The rules of one gateway.
#[derive(Clone, Debug)]
pub struct GatewayRules {
    /// The gateway.
    pub gateway: Gateway,
    /// The prices of a page.
    pub tariff: Tariff,
    /// The carriers. Empty for a gateway with legs.
    pub preference: Preference,
    /// `true` if an undelivered recipient is refunded.
    pub refund_undelivered: bool,
    /// `true` if transactional text is allowed.
    pub transactional: bool,
    /// The recipients who are left out of sends.
    pub respects: Respected,
    /// The policy for recipients in doubt.
    pub in_doubt: InDoubt,
    /// Milliseconds from the first possible submit until a recipient without an outcome expires.
    pub receipt_timeout_ms: i64,
    /// The validity that is requested from the carrier, milliseconds.
    pub validity_ms: i64,
    /// The legs of `dual-backup`.
    pub legs: Option<Legs>,
    /// The quiet hours.
    pub quiet_hours: Option<QuietHours>,
}

/// The rules of a carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CarrierRules {
    /// The name in the configuration and the database.
    pub name: String,
    /// `true` if the carrier replaces the sender ID, which `hosted` then appends to the text.
    pub rewrites_sender: bool,
    /// `true` if the carrier takes binary data.
    pub takes_binary: bool,
}

/// All rules of the operator for sends.
#[derive(Clone, Debug)]
pub struct Rulebook {
    /// The networks by prefix.
    pub plan: NumberPlan,
    /// All carriers. Other rules use their indexes.
    pub carriers: Vec<CarrierRules>,
    /// The configured gateways.
    pub gateways: Vec<GatewayRules>,
    /// The words that make a text transactional.
    pub code_words: CodeWords,
    /// Maximum number of recipients in a request.
    pub max_recipients: usize,
    /// `true` if a `callback_url` may have an address that is not public.
    pub private_callbacks: bool,
}

impl Rulebook {
    /// Returns the rules of a gateway, if it is configured.
    pub fn gateway(&self, gateway: Gateway) -> Option<&GatewayRules> {
        self.gateways.iter().find(|rules| rules.gateway == gateway)
    }

    /// Returns the rules of the gateway for one leg of a message that was sent over `gateway`.
    pub fn leg(&self, gateway: Gateway, leg: Leg) -> Option<&GatewayRules> {
        let rules = self.gateway(gateway)?;
        match rules.legs {
            None => Some(rules),
            Some(legs) => self.gateway(match leg {
                Leg::First => legs.first,
                Leg::Second => legs.second,
            }),
        }
    }

    /// Returns the quiet hours of one leg of a message over `gateway`. The sandbox has none.
    pub fn quiet_hours(
        &self,
        gateway: Gateway,
        leg: Leg,
        environment: Environment,
    ) -> Option<QuietHours> {
        let quiet = self.leg(gateway, leg)?.quiet_hours;
        quiet.filter(|_| environment == Environment::Live)
    }

    /// Returns the price of a page over `gateway` to `network` for accounts without a price of
    /// their own. It is the higher one of a gateway with two legs.
    pub fn list_price(&self, gateway: Gateway, network: Option<u8>) -> Option<Price> {
        let of = |leg| Some(self.leg(gateway, leg)?.tariff.list_price(network));
        let (first, second) = (of(Leg::First)?, of(Leg::Second)?);
        Some(Price {
            plain: first.plain.max(second.plain),
            unicode: first.unicode.max(second.unicode),
        })
    }

    /// Returns `true` if the gateway has a carrier for live messages. The sandbox needs none.
    pub fn is_carried(&self, gateway: Gateway) -> bool {
        self.leg(gateway, Leg::First)
            .is_some_and(|leg| !leg.preference.default.is_empty())
    }

    /// Returns the available gateways: those with a carrier in live, and all in the sandbox.
    pub fn open(&self, environment: Environment) -> impl Iterator<Item = &GatewayRules> {
        self.gateways.iter().filter(move |rules| match environment {
            Environment::Live => self.is_carried(rules.gateway),
            Environment::Sandbox => true,
        })
    }

    /// Returns the acceptance time before which all messages of a gateway have expired. The time of
    /// a message begins when its first leg may be sent. A gateway that is no longer configured
    /// has the longest time.
    pub fn over_before(&self, gateway: Gateway, now_ms: i64) -> i64 {
        let longest_ms = i64::try_from(MAX_RECEIPT_TIMEOUT.as_millis()).unwrap_or(i64::MAX);
        let rules = self.gateway(gateway);
        let timeout_ms = rules.map_or(longest_ms, |rules| rules.receipt_timeout_ms);
        let ended_ms = now_ms - timeout_ms;
        let quiet = self.quiet_hours(gateway, Leg::First, Environment::Live);
        quiet.map_or(ended_ms, |quiet| quiet.allowed_before(ended_ms))
    }

    /// Returns the index of a carrier by name.
    pub fn carrier(&self, name: &str) -> Option<usize> {
        let mut carriers = self.carriers.iter();
        carriers.position(|carrier| carrier.name == name)
    }

    /// Returns the network of a number.
    pub fn network_of(&self, recipient: Recipient) -> Option<u8> {
        self.plan.network_of(recipient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_aliases_name_gateways_and_empty_means_the_default() {
        let table = [
            ("", Some(Gateway::DirectRefund)),
            ("0", Some(Gateway::DirectRefund)),
            ("1", Some(Gateway::DirectRefund)),
            ("2", Some(Gateway::DirectCorporate)),
            ("6", Some(Gateway::DirectCorporate)),
            ("7", Some(Gateway::International)),
            ("8", Some(Gateway::Otp)),
            ("corporate", Some(Gateway::DirectCorporate)),
            ("dual-backup", Some(Gateway::DualBackup)),
            ("3", None),
            ("premium", None),
        ];
        for (text, gateway) in table {
            assert_eq!(Gateway::parse(text), gateway, "{text:?}");
        }
    }

    #[test]
    fn quiet_hours_hold_until_their_end_in_lagos() {
        let quiet = QuietHours {
            from_minute: 20 * 60,
            until_minute: 8 * 60,
        };
        let lagos =
            |day: i64, hour: i64, minute: i64| ((day * 24 + hour) * 60 + minute - 60) * MINUTE_MS;
        let table = [
            (lagos(5, 19, 59), lagos(5, 19, 59)),
            (lagos(5, 20, 0), lagos(6, 8, 0)),
            (lagos(5, 23, 30), lagos(6, 8, 0)),
            (lagos(6, 0, 10), lagos(6, 8, 0)),
            (lagos(6, 8, 0), lagos(6, 8, 0)),
        ];
        for (due, allowed) in table {
            assert_eq!(quiet.due(due), allowed, "{due}");
            // All times between both bounds have the due time of the end, and none of them is
            // expired before.
            for at in [due, due + 1, allowed - 1, allowed, allowed + 1] {
                for before in [due - 1, due, due + 1, allowed - 1, allowed] {
                    let over = before < at && quiet.due(before) <= at;
                    assert_eq!(before < quiet.allowed_before(at), over, "{before} at {at}");
                }
            }
        }
        assert_eq!(quiet.to_string(), "20:00-08:00");
    }
}
