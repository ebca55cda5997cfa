//! The batches of second legs.

use super::*;
use crate::context::random::Random;
use domain::{
    Bucket, CarrierRules, CodeWords, GatewayRules, Legs, Money, NumberPlan, Preference, Price,
    Tariff,
};
use std::collections::HashMap;

const DUE_MS: i64 = 1_795_000_000_000;
const TIMEOUT_MS: i64 = 3_600_000;

fn gateway(gateway: Gateway) -> GatewayRules {
    GatewayRules {
        gateway,
        tariff: Tariff {
            base: Price {
                plain: Money::from_naira(1),
                unicode: Money::from_naira(2),
            },
            networks: Vec::new(),
            accounts: HashMap::new(),
        },
        preference: Preference {
            default: vec![0],
            networks: Vec::new(),
        },
        refund_undelivered: false,
        transactional: true,
        respects: domain::Respected::default(),
        in_doubt: InDoubt::Hold,
        receipt_timeout_ms: TIMEOUT_MS,
        validity_ms: TIMEOUT_MS,
        legs: (gateway == Gateway::DualBackup).then_some(Legs {
            first: Gateway::DirectRefund,
            second: Gateway::DirectCorporate,
            timeout_ms: 60_000,
        }),
        quiet_hours: None,
    }
}

fn plan() -> Plan {
    let gateways = [
        Gateway::DirectRefund,
        Gateway::DirectCorporate,
        Gateway::DualBackup,
    ];
    let rules = Rulebook {
        plan: NumberPlan::nigeria(),
        carriers: vec![CarrierRules {
            name: "mtn".to_owned(),
            rewrites_sender: false,
            takes_binary: true,
        }],
        gateways: gateways.map(gateway).into(),
        code_words: CodeWords::standard(),
        max_recipients: 1,
        private_callbacks: false,
    };
    Plan::new(rules, Numbers::new(0, &Random::seeded(1)))
}

fn wanted(validity_s: Option<i64>) -> SecondLeg {
    SecondLeg {
        bucket: Bucket(0),
        message: MessageId::new(DUE_MS - 60_000, [7; 10]),
        message_due_at_ms: DUE_MS,
        validity_s,
        gateway: Gateway::DualBackup,
        recipient: Recipient::from_digits(2_348_031_234_567),
        suffixed: false,
        pages: 1,
        charge: Money::from_naira(1),
        reserve: Money::ZERO,
    }
}

#[test]
fn both_legs_share_the_validity_from_the_due_time() {
    let plan = plan();
    let now_ms = DUE_MS + 30_000;
    for (validity_s, valid_ms) in [
        (None, TIMEOUT_MS),
        (Some(600), 600_000),
        (Some(172_800), TIMEOUT_MS),
    ] {
        let batch = plan.second_leg(&wanted(validity_s), now_ms).unwrap();
        assert_eq!(batch.expires_at_ms, DUE_MS + valid_ms, "{validity_s:?}");
        assert_eq!((batch.leg, batch.due_at_ms), (Leg::Second, now_ms));
    }
}

#[test]
fn the_timer_of_a_second_leg_ends_with_the_first() {
    let plan = plan();
    let batch = plan.second_leg(&wanted(None), DUE_MS).unwrap();
    let first = Batch {
        leg: Leg::First,
        expires_at_ms: DUE_MS + 90_000,
        ..batch
    };
    let awaited = first.recipients.clone().into_iter();
    let timer = plan.second_leg_timer(&first, Gateway::DualBackup, awaited, DUE_MS);
    let timer = timer.unwrap();
    assert_eq!(timer.expires_at_ms, first.expires_at_ms);
    assert_eq!(timer.due_at_ms, DUE_MS + 60_000);
}
