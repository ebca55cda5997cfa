//! Gateways: what the caller chooses, what each one costs and promises, and which carriers serve it.

use crate::account::Environment;
use crate::content::CodeWords;
use crate::ids::AccountId;
use crate::leg::Leg;
use crate::money::Money;
use crate::named_enum;
use crate::network::NumberPlan;
use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

named_enum! {
    /// The caller's choice of route and price.
    pub enum Gateway {
        /// Ordinary: refunded when not delivered.
        DirectRefund = "direct-refund",
        /// Approved corporate: no refund after submission, transactional text allowed.
        DirectCorporate = "direct-corporate",
        /// One-time passwords: served before everything else, short validity.
        Otp = "otp",
        /// Ordinary first, corporate where that fails.
        DualBackup = "dual-backup",
        /// Numbers of any country.
        International = "international",
    }
}

impl Gateway {
    /// Reads the name or a numeric alias; empty and `0` mean the default.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "" | "0" | "1" => Some(Self::DirectRefund),
            "2" | "6" | "corporate" => Some(Self::DirectCorporate),
            "7" => Some(Self::International),
            "8" => Some(Self::Otp),
            name => Self::from_name(name),
        }
    }

    /// Reads the older parameter `dnd`.
    pub fn parse_dnd(text: &str) -> Option<Self> {
        match text.trim() {
            "" | "0" | "1" => Some(Self::DirectRefund),
            "2" | "3" | "6" => Some(Self::DirectCorporate),
            "4" | "5" => Some(Self::DualBackup),
            _ => None,
        }
    }
}

/// When the sender ID is added to the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AppendSender {
    /// Never.
    None,
    /// Where the carrier replaces the sender ID.
    Hosted,
    /// Always.
    All,
}

impl AppendSender {
    /// Reads the name or the older number; empty and `0` mean the default.
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

/// Where in the order a batch is served: lower first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Priority {
    /// One-time passwords overtake everything.
    Otp = 0,
    /// Sends to few recipients, and retries.
    Normal = 1,
    /// Campaigns.
    Bulk = 2,
}

/// Recipients above which a send counts as a campaign.
const BULK_FROM: usize = 50;

impl Priority {
    /// All, in the order in which they are served.
    pub const ALL: [Self; 3] = [Self::Otp, Self::Normal, Self::Bulk];

    /// Its place in that order, for storage.
    pub const fn rank(self) -> i64 {
        self as i64
    }

    /// The priority of that place.
    pub fn from_rank(rank: i64) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|priority| priority.rank() == rank)
    }

    /// The priority of a send of so many recipients over `gateway`.
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

/// Prices of one page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Price {
    /// The price of a plain page.
    pub plain: Money,
    /// The price of a Unicode page.
    pub unicode: Money,
}

/// The prices of a gateway: an account's own price, else the network's, else the gateway's.
#[derive(Clone, Debug)]
pub struct Tariff {
    /// The gateway's price.
    pub base: Price,
    /// By index of the network in the number plan.
    pub networks: Vec<Option<Price>>,
    /// Agreed with single accounts.
    pub accounts: HashMap<AccountId, Price>,
}

impl Tariff {
    /// The price of a page to a number of `network` for `account`.
    pub fn price(&self, account: AccountId, network: Option<u8>) -> Price {
        let own = self.accounts.get(&account).copied();
        own.unwrap_or_else(|| self.list_price(network))
    }

    /// The price of a page to a number of `network` for accounts without a price of their own.
    pub fn list_price(&self, network: Option<u8>) -> Price {
        network
            .and_then(|index| self.networks.get(usize::from(index)).copied().flatten())
            .unwrap_or(self.base)
    }
}

/// Which carriers serve a gateway, in order of preference; the numbers index [`Rulebook::carriers`].
#[derive(Clone, Debug, Default)]
pub struct Preference {
    /// For networks without an own list.
    pub default: Vec<usize>,
    /// By index of the network in the number plan.
    pub networks: Vec<Option<Vec<usize>>>,
}

impl Preference {
    /// The carriers for numbers of `network`.
    pub fn carriers(&self, network: Option<u8>) -> &[usize] {
        network
            .and_then(|index| self.networks.get(usize::from(index)))
            .and_then(Option::as_ref)
            .unwrap_or(&self.default)
    }

    /// The carrier that comes after `carrier` for `network`, when one is left.
    pub fn after(&self, network: Option<u8>, carrier: usize) -> Option<usize> {
        let carriers = self.carriers(network);
        let position = carriers.iter().position(|&other| other == carrier)?;
        carriers.get(position + 1).copied()
    }
}

/// The treatment of a recipient whose submit has no known outcome.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InDoubt {
    /// It waits so many milliseconds for a receipt, and is then sent once more.
    Resend {
        /// Milliseconds.
        hold_ms: i64,
    },
    /// It is left to its receipts.
    Hold,
}

/// The two legs of `dual-backup`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Legs {
    /// Tried first.
    pub first: Gateway,
    /// Tried where the first fails or stays silent.
    pub second: Gateway,
    /// How long the first may stay silent, milliseconds.
    pub timeout_ms: i64,
}

/// Hours of the day (Africa/Lagos) in which a gateway holds its messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QuietHours {
    /// First quiet minute of the day.
    pub from_minute: u16,
    /// First minute that is not quiet any more.
    pub until_minute: u16,
}

/// Lagos is one hour ahead of UTC all year.
pub(crate) const LAGOS_OFFSET_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;
const DAY_MINUTES: i64 = 24 * 60;

impl QuietHours {
    /// When a message that is due at `due_ms` may go: then, or at the end of the quiet hours.
    pub fn due(self, due_ms: i64) -> i64 {
        self.around(due_ms).map_or(due_ms, |(_, end_ms)| end_ms)
    }

    /// Before which moment that must have been due which could go until `at_ms`: then, or from the beginning of the
    /// quiet hours on it still could not.
    pub fn allowed_before(self, at_ms: i64) -> i64 {
        self.around(at_ms).map_or(at_ms, |(start_ms, _)| start_ms)
    }

    /// The beginning and the end of the quiet hours in which a moment lies.
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

/// As the configuration has them: `20:00-08:00`.
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

/// The longest that receipts may be waited for: after that none finds its recipient, as carriers may give an id again.
pub const MAX_RECEIPT_TIMEOUT: Duration = Duration::from_hours(7 * 24);

/// Everything that holds for one gateway.
#[derive(Clone, Debug)]
pub struct GatewayRules {
    /// Which one.
    pub gateway: Gateway,
    /// The prices of a page.
    pub tariff: Tariff,
    /// Who carries it. Empty for a gateway with legs.
    pub preference: Preference,
    /// A recipient that is not delivered is refunded.
    pub refund_undelivered: bool,
    /// Transactional text is carried.
    pub transactional: bool,
    /// The treatment of recipients in doubt.
    pub in_doubt: InDoubt,
    /// After how long without an outcome a recipient is expired, milliseconds from when the first leg may go.
    pub receipt_timeout_ms: i64,
    /// The validity asked of the carrier, milliseconds.
    pub validity_ms: i64,
    /// The legs of `dual-backup`.
    pub legs: Option<Legs>,
    /// When messages are held.
    pub quiet_hours: Option<QuietHours>,
}

/// The rules of a carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CarrierRules {
    /// Its name in the configuration and the database.
    pub name: String,
    /// It replaces the sender ID, so that `append_sender = hosted` adds it to the text.
    pub rewrites_sender: bool,
}

/// All that the operator has settled and a send is judged by.
#[derive(Clone, Debug)]
pub struct Rulebook {
    /// Numbers to networks.
    pub plan: NumberPlan,
    /// All carriers; the others name them by index.
    pub carriers: Vec<CarrierRules>,
    /// The gateways that are configured.
    pub gateways: Vec<GatewayRules>,
    /// The words that make a text transactional.
    pub code_words: CodeWords,
    /// Most recipients in a request.
    pub max_recipients: usize,
    /// A `callback_url` may name an address that is not public.
    pub private_callbacks: bool,
}

impl Rulebook {
    /// The rules of a gateway, when it is configured.
    pub fn gateway(&self, gateway: Gateway) -> Option<&GatewayRules> {
        self.gateways.iter().find(|rules| rules.gateway == gateway)
    }

    /// The rules of the gateway that carries one leg (1 or 2) of a message sent over `gateway`.
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

    /// The price of a page over `gateway` to a number of `network` for accounts without a price of their own. A gateway
    /// with two legs has the dearer one's.
    pub fn list_price(&self, gateway: Gateway, network: Option<u8>) -> Option<Price> {
        let of = |leg| Some(self.leg(gateway, leg)?.tariff.list_price(network));
        let (first, second) = (of(Leg::First)?, of(Leg::Second)?);
        Some(Price {
            plain: first.plain.max(second.plain),
            unicode: first.unicode.max(second.unicode),
        })
    }

    /// Returns whether live messages have a carrier on `gateway`. Where none is configured, the sandbox still has gateways.
    pub fn is_carried(&self, gateway: Gateway) -> bool {
        self.leg(gateway, Leg::First)
            .is_some_and(|leg| !leg.preference.default.is_empty())
    }

    /// The gateways that can be asked for: live those that have a carrier, in the sandbox all.
    pub fn open(&self, environment: Environment) -> impl Iterator<Item = &GatewayRules> {
        self.gateways.iter().filter(move |rules| match environment {
            Environment::Live => self.is_carried(rules.gateway),
            Environment::Sandbox => true,
        })
    }

    /// Returns the moment before which all that a gateway accepted has had its time. That time runs from when the first leg
    /// might go.
    /// A gateway that is not configured any more has the longest time.
    pub fn over_before(&self, gateway: Gateway, now_ms: i64) -> i64 {
        let longest_ms = i64::try_from(MAX_RECEIPT_TIMEOUT.as_millis()).unwrap_or(i64::MAX);
        let rules = self.gateway(gateway);
        let timeout_ms = rules.map_or(longest_ms, |rules| rules.receipt_timeout_ms);
        let ended_ms = now_ms - timeout_ms;
        let first = self.leg(gateway, Leg::First);
        let quiet = first.and_then(|first| first.quiet_hours);
        quiet.map_or(ended_ms, |quiet| quiet.allowed_before(ended_ms))
    }

    /// The index of the carrier of that name.
    pub fn carrier(&self, name: &str) -> Option<usize> {
        self.carriers
            .iter()
            .position(|carrier| carrier.name == name)
    }

    /// The network of a number, by the number plan.
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
            // Between both ends all have the time of the end, and none of it is over before.
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
