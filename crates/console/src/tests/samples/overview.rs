//! The overview: with a day of traffic, of a new account, and in the sandbox.

use super::{NOW_MS, shell};
use crate::Section;
use crate::parts::Tone;
use crate::screens::{
    Attention, Latest, Measure, Outcome, Overview, OverviewNumbers, Period, Slot,
};
use domain::user::role::Role;
use domain::{Environment, Money};

const SHAPE: [u64; 24] = [
    44, 61, 88, 130, 240, 420, 510, 580, 610, 540, 1260, 2600, 1480, 890, 700, 610, 450, 390, 300,
    210, 150, 90, 60, 30,
];

fn slots(period: Period) -> Vec<Slot> {
    let count = period.slots();
    // The current hour began 6 minutes and 42 seconds ago.
    let begin_ms = NOW_MS - 402_000;
    let slot = |at: usize| {
        let sent = SHAPE[at % SHAPE.len()];
        let failed = sent / 31;
        Slot {
            at_ms: begin_ms - period.slot_ms() * i64::try_from(count - 1 - at).unwrap(),
            sent,
            delivered: sent - failed,
            failed,
            spend: Money::from_units(65_000) * i64::try_from(sent - failed).unwrap(),
        }
    };
    (0..count).map(slot).collect()
}

fn outcome(name: &str, sent: u64, failed: u64) -> Outcome {
    Outcome {
        name: name.to_owned(),
        sent,
        delivered: sent - failed,
        failed,
    }
}

fn latest() -> Vec<Latest> {
    let texts = [
        (
            "Your order 20418 leaves Kano market today and reaches you before 17:00.",
            1,
            1,
            0,
        ),
        (
            "Fresh tomatoes from ₦4,500 a basket until Friday. Reply STOP to opt out.",
            1204,
            1100,
            31,
        ),
        ("482913 is your code. It is good for 5 minutes.", 1, 0, 1),
        (
            "Dear customer, our shop in Sabon Gari opens at 08:00 on Monday.",
            380,
            371,
            9,
        ),
        (
            "Your payment of ₦18,250.00 was received. Thank you.",
            1,
            0,
            0,
        ),
    ];
    let message =
        |(at, (text, recipients, delivered, failed)): (usize, (&str, u64, u64, u64))| Latest {
            id: format!("0193{at}"),
            sender: "KANOFRESH".to_owned(),
            text: text.to_owned(),
            at_ms: NOW_MS - 47_000 * i64::try_from(at * at + 1).unwrap(),
            recipients,
            delivered,
            failed,
            cost: Money::from_units(65_000) * i64::try_from(recipients).unwrap(),
        };
    texts.into_iter().enumerate().map(message).collect()
}

fn attention() -> Vec<Attention> {
    let one = |tone, text: &str, action: &str, href: &str| Attention {
        tone,
        text: text.to_owned(),
        action: action.to_owned(),
        href: href.to_owned(),
    };
    vec![
        one(
            Tone::Bad,
            "14 callbacks were given up, because shop.example answered with 502.",
            "Look at them",
            "/console/callbacks",
        ),
        one(
            Tone::Warning,
            "The balance lasts for about 2 days at the rate of this week.",
            "See the wallet",
            "/console/wallet",
        ),
    ]
}

pub(super) fn filled(role: Role) -> Overview {
    let mut shell = shell("Overview", Section::Overview);
    shell.role = role;
    Overview {
        shell,
        live: OverviewNumbers {
            now_ms: NOW_MS,
            period: Period::Day,
            measure: Measure::Sent,
            balance: Money::from_units(4_131_055_000),
            slots: slots(Period::Day),
            networks: vec![
                outcome("MTN", 7410, 130),
                outcome("Airtel", 3122, 92),
                outcome("Glo", 1544, 88),
                outcome("T2", 404, 27),
            ],
            gateways: vec![outcome("direct-dnd", 9020, 201), outcome("bulk", 3460, 136)],
            attention: attention(),
            latest: latest(),
            counted_since_ms: None,
            networks_since_ms: None,
        },
    }
}

pub(super) fn empty() -> Overview {
    let filled = filled(Role::Owner);
    let mut slots = slots(Period::Day);
    for slot in &mut slots {
        *slot = Slot {
            at_ms: slot.at_ms,
            ..Slot::default()
        };
    }
    Overview {
        live: OverviewNumbers {
            balance: Money::ZERO,
            slots,
            networks: Vec::new(),
            gateways: Vec::new(),
            attention: Vec::new(),
            latest: Vec::new(),
            ..filled.live
        },
        ..filled
    }
}

pub(super) fn sandbox() -> Overview {
    let mut screen = filled(Role::Developer);
    screen.shell.environment = Environment::Sandbox;
    screen.live.period = Period::Month;
    screen.live.measure = Measure::Spend;
    screen.live.slots = slots(Period::Month);
    screen.live.attention = Vec::new();
    screen.live.counted_since_ms = Some(NOW_MS - 20 * 86_400_000);
    screen.live.networks_since_ms = Some(NOW_MS - 86_400_000);
    screen
}
