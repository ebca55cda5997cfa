//! `[gateways.NAME]`: prices, carriers and terms of the gateways.

use super::fault::{Origin, closest};
use super::section::Section;
use super::tariff::{network, tariff, twice};
use super::tree::{Node, Value};
use super::value::Read;
use domain::{
    Gateway, GatewayRules, InDoubt, Legs, MAX_RECEIPT_TIMEOUT, Money, NumberPlan, Preference,
    QuietHours, Respected, Tariff,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::time::Duration;

const IN_DOUBT_HOLD: Duration = Duration::from_secs(10);
const LEG_TIMEOUT: Duration = Duration::from_mins(2);
const OTP_VALIDITY: Duration = Duration::from_mins(10);
const VALIDITY: Duration = Duration::from_hours(48);
const PROMISED: RangeInclusive<Duration> = Duration::from_millis(10)..=MAX_RECEIPT_TIMEOUT;
/// The key for all other networks in a table of carriers by network.
const OTHER_NETWORKS: &str = "default";

/// The names that a gateway's section may refer to.
pub(super) struct Known<'a> {
    /// The networks, in the order of their index.
    pub(super) plan: &'a NumberPlan,
    /// The names of the carriers, in the order of their index.
    pub(super) carriers: &'a [String],
}

/// Reads all gateways, and checks the references between them.
pub(super) fn read_all(
    sections: Vec<(String, Section<'_>)>,
    known: &Known<'_>,
) -> Vec<GatewayRules> {
    let mut gateways = Vec::new();
    let mut legged = Vec::new();
    for (name, section) in sections {
        let Some(gateway) = Gateway::from_name(&name) else {
            unknown_gateway(&name, &section);
            continue;
        };
        let place = section.place_of("legs");
        if gateway == Gateway::DualBackup {
            legged.push((place, section));
        } else {
            gateways.push(direct(gateway, section, known));
        }
    }
    for (place, section) in legged {
        let rules = dual(section, &place, &gateways);
        gateways.push(rules);
    }
    gateways
}

/// Returns the gateways of an installation without carriers, by which the sandbox calculates
/// prices.
pub(super) fn for_sandbox() -> Vec<GatewayRules> {
    let plain = [
        Gateway::DirectRefund,
        Gateway::DirectCorporate,
        Gateway::Otp,
    ];
    let mut gateways: Vec<_> = plain.into_iter().map(default_rules).collect();
    let legs = Legs {
        first: Gateway::DirectRefund,
        second: Gateway::DirectCorporate,
        timeout_ms: millis(LEG_TIMEOUT),
    };
    gateways.push(GatewayRules {
        legs: Some(legs),
        ..default_rules(Gateway::DualBackup)
    });
    gateways
}

/// Returns the defaults of a gateway without keys of its own (docs/spec/sending.md, section 5).
fn default_rules(gateway: Gateway) -> GatewayRules {
    let (units, refund, transactional, validity) = match gateway {
        Gateway::DirectRefund => (60_000, true, false, VALIDITY),
        Gateway::DirectCorporate => (75_000, false, true, VALIDITY),
        Gateway::Otp => (80_000, false, true, OTP_VALIDITY),
        Gateway::DualBackup => (75_000, false, false, VALIDITY),
        Gateway::International => (250_000, false, true, VALIDITY),
    };
    GatewayRules {
        gateway,
        tariff: Tariff {
            base: twice(Money::from_units(units)),
            networks: Vec::new(),
            accounts: HashMap::new(),
        },
        preference: Preference::default(),
        refund_undelivered: refund,
        transactional,
        respects: Respected {
            opt_outs: matches!(gateway, Gateway::DirectRefund | Gateway::DualBackup),
            dnd: false,
        },
        in_doubt: InDoubt::Resend {
            hold_ms: millis(IN_DOUBT_HOLD),
        },
        receipt_timeout_ms: millis(validity),
        validity_ms: millis(validity),
        legs: None,
        quiet_hours: None,
    }
}

fn unknown_gateway(name: &str, section: &Section<'_>) {
    let names: Vec<_> = Gateway::ALL
        .iter()
        .map(|gateway| gateway.as_str())
        .collect();
    let text = match closest(name, names.iter().copied()) {
        Some(meant) => format!("there is no such gateway; did you mean `{meant}`?"),
        None => format!("there is no such gateway; there are {}", names.join(", ")),
    };
    section.fault("", text);
}

fn direct(gateway: Gateway, mut section: Section<'_>, known: &Known<'_>) -> GatewayRules {
    if section.has("legs") {
        section.fault("legs", "only dual-backup has legs");
        section.get::<Node>("legs");
    }
    let defaults = default_rules(gateway);
    let rules = GatewayRules {
        preference: preference(&mut section, known),
        tariff: tariff(&mut section, defaults.tariff.base, known.plan),
        refund_undelivered: section
            .get("refund_undelivered")
            .unwrap_or(defaults.refund_undelivered),
        transactional: transactional(&mut section).unwrap_or(defaults.transactional),
        respects: respected(&mut section, defaults.respects),
        in_doubt: in_doubt(&mut section),
        validity_ms: section
            .time("validity", PROMISED)
            .map_or(defaults.validity_ms, millis),
        receipt_timeout_ms: section
            .time("receipt_timeout", PROMISED)
            .map_or(defaults.receipt_timeout_ms, millis),
        quiet_hours: quiet_hours(&mut section),
        ..defaults
    };
    section.finish();
    rules
}

fn dual(mut section: Section<'_>, place: &Origin, others: &[GatewayRules]) -> GatewayRules {
    const OF_THE_LEGS: [&str; 10] = [
        "carriers",
        "price",
        "unicode_price",
        "prices",
        "account_prices",
        "refund_undelivered",
        "validity",
        "in_doubt",
        "in_doubt_hold",
        "quiet_hours",
    ];
    for key in OF_THE_LEGS
        .into_iter()
        .filter(|key| section.has(key))
        .collect::<Vec<_>>()
    {
        section.fault(
            key,
            "a gateway with legs has that of its legs; leave it out here",
        );
        section.get::<Node>(key);
    }
    let defaults = default_rules(Gateway::DualBackup);
    let timeout_ms = section
        .time("leg_timeout", PROMISED)
        .map_or(millis(LEG_TIMEOUT), millis);
    let legs = legs(&mut section, place, others);
    let rules = GatewayRules {
        transactional: transactional(&mut section).unwrap_or(defaults.transactional),
        respects: respected(&mut section, defaults.respects),
        receipt_timeout_ms: section
            .time("receipt_timeout", PROMISED)
            .map_or(defaults.receipt_timeout_ms, millis),
        legs: Some(Legs {
            first: legs.0,
            second: legs.1,
            timeout_ms,
        }),
        ..defaults
    };
    section.finish();
    rules
}

/// Reads the two legs. Each is another gateway that is configured and has no legs itself.
fn legs(section: &mut Section<'_>, place: &Origin, others: &[GatewayRules]) -> (Gateway, Gateway) {
    let default = (Gateway::DirectRefund, Gateway::DirectCorporate);
    let is_given = section.has("legs");
    let names: Vec<String> = match section.get("legs") {
        Some(names) => names,
        None if is_given => return default,
        None => vec![default.0.as_str().to_owned(), default.1.as_str().to_owned()],
    };
    let fault = |text: String| section.fault_at(place, "legs", text);
    let [first, second] = names.as_slice() else {
        fault(format!("must be two gateways, not {}", names.len()));
        return default;
    };
    if first == second {
        fault("must be two different gateways".to_owned());
    }
    let leg = |name: &String| match Gateway::from_name(name) {
        Some(Gateway::DualBackup) => {
            fault("a leg cannot be dual-backup itself".to_owned());
            None
        }
        Some(gateway) if others.iter().any(|rules| rules.gateway == gateway) => Some(gateway),
        Some(_) | None => {
            fault(format!(
                "there is no section [gateways.{name}] for this leg"
            ));
            None
        }
    };
    (
        leg(first).unwrap_or(default.0),
        leg(second).unwrap_or(default.1),
    )
}

fn preference(section: &mut Section<'_>, known: &Known<'_>) -> Preference {
    let place = section.place_of("carriers");
    let Some(node) = section.require::<Node>("carriers") else {
        return Preference::default();
    };
    let fault = |text: String| section.fault_at(&place, "carriers", text);
    let is_table = match &node.value {
        Value::Table(_) => true,
        Value::Variable(text) => text.trim_start().starts_with('{'),
        _ => false,
    };
    if !is_table {
        return match Vec::<String>::read(&node) {
            Ok(names) => Preference {
                default: indexes(&names, known, &fault),
                networks: Vec::new(),
            },
            Err(text) => {
                fault(text);
                Preference::default()
            }
        };
    }
    let mut by_network: BTreeMap<String, Vec<String>> = match BTreeMap::read(&node) {
        Ok(by_network) => by_network,
        Err(text) => {
            fault(text);
            return Preference::default();
        }
    };
    let default = by_network.remove(OTHER_NETWORKS);
    if default.is_none() {
        fault("has no `default`: say who carries numbers of all other networks".to_owned());
    }
    let mut networks = vec![None; known.plan.networks().len()];
    for (name, carriers) in &by_network {
        match network(name, known.plan) {
            Ok(index) => networks[index] = Some(indexes(carriers, known, &fault)),
            Err(text) => fault(text),
        }
    }
    Preference {
        default: default
            .map(|names| indexes(&names, known, &fault))
            .unwrap_or_default(),
        networks,
    }
}

/// Returns the indexes of carriers. An unknown name and an empty list are faults.
fn indexes(names: &[String], known: &Known<'_>, fault: &impl Fn(String)) -> Vec<usize> {
    if names.is_empty() {
        fault("names no carrier".to_owned());
    }
    if let Some(twice) = names
        .iter()
        .enumerate()
        .find(|(at, name)| names[..*at].contains(name))
    {
        fault(format!("names `{}` twice", twice.1));
    }
    let index = |name: &String| {
        let index = known.carriers.iter().position(|carrier| carrier == name);
        if index.is_none() {
            let meant = closest(name, known.carriers.iter().map(String::as_str));
            let hint = meant
                .map(|meant| format!("; did you mean `{meant}`?"))
                .unwrap_or_default();
            fault(format!("there is no section [carriers.{name}]{hint}"));
        }
        index
    };
    names.iter().filter_map(index).collect()
}

fn transactional(section: &mut Section<'_>) -> Option<bool> {
    section.one_of("transactional", &[("refuse", false), ("allow", true)])
}

/// Reads whether the recipients of a list are left out of sends.
fn respected(section: &mut Section<'_>, defaults: Respected) -> Respected {
    let opt_outs = section.get("respect_opt_outs");
    let dnd = section.get("respect_dnd");
    Respected {
        opt_outs: opt_outs.unwrap_or(defaults.opt_outs),
        dnd: dnd.unwrap_or(defaults.dnd),
    }
}

fn in_doubt(section: &mut Section<'_>) -> InDoubt {
    let resend = section.one_of("in_doubt", &[("resend", true), ("hold", false)]);
    let hold = section.time("in_doubt_hold", Duration::ZERO..=*PROMISED.end());
    if resend.unwrap_or(true) {
        InDoubt::Resend {
            hold_ms: millis(hold.unwrap_or(IN_DOUBT_HOLD)),
        }
    } else {
        InDoubt::Hold
    }
}

/// Reads `20:00-08:00`.
fn quiet_hours(section: &mut Section<'_>) -> Option<QuietHours> {
    let place = section.place_of("quiet_hours");
    let text: String = section.get("quiet_hours")?;
    let minute = |text: &str| {
        let (hour, minute) = text.trim().split_once(':')?;
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        (hour < 24 && minute < 60).then_some(hour * 60 + minute)
    };
    let hours = text.split_once('-').and_then(|(from, until)| {
        let (from_minute, until_minute) = (minute(from)?, minute(until)?);
        (from_minute != until_minute).then_some(QuietHours {
            from_minute,
            until_minute,
        })
    });
    if hours.is_none() {
        section.fault_at(
            &place,
            "quiet_hours",
            format!("{text:?} is not two times such as 20:00-08:00"),
        );
    }
    hours
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
