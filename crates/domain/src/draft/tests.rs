use super::*;
use crate::account::{Account, AccountStatus, Environment, SenderId, SenderStatus, Verification};
use crate::gateway::{
    CarrierRules, Gateway, GatewayRules, InDoubt, Legs, Preference, Price, QuietHours, Rulebook,
    Tariff,
};
use crate::ids::AccountId;
use crate::money::Money;
use crate::network::NumberPlan;
use crate::prohibited::Prohibited;
use crate::refusal::Refusal;
use crate::sender;
use crate::transactional::CodeWords;
use std::collections::HashMap;

fn gateway(gateway: Gateway, naira: i64) -> GatewayRules {
    let base = Price {
        plain: Money::from_naira(naira),
        unicode: Money::from_naira(2 * naira),
    };
    let promotional = matches!(gateway, Gateway::DirectRefund | Gateway::DualBackup);
    GatewayRules {
        gateway,
        tariff: Tariff {
            base,
            networks: Vec::new(),
            accounts: HashMap::new(),
        },
        preference: Preference {
            default: vec![0],
            networks: Vec::new(),
        },
        refund_undelivered: gateway == Gateway::DirectRefund,
        transactional: !promotional,
        respects: crate::respected::Respected {
            opt_outs: promotional,
            dnd: false,
        },
        in_doubt: InDoubt::Hold,
        receipt_timeout_ms: 1,
        validity_ms: 1,
        legs: (gateway == Gateway::DualBackup).then_some(Legs {
            first: Gateway::DirectRefund,
            second: Gateway::DirectCorporate,
            timeout_ms: 120_000,
        }),
        quiet_hours: None,
    }
}

pub(super) fn rules() -> Rulebook {
    let plan = NumberPlan::nigeria();
    let glo = plan
        .networks()
        .iter()
        .position(|name| name == "glo")
        .unwrap();
    let mut refund = gateway(Gateway::DirectRefund, 6);
    refund.preference.networks = vec![None; plan.networks().len()];
    refund.preference.networks[glo] = Some(vec![1]);
    Rulebook {
        plan,
        carriers: vec![
            CarrierRules {
                name: "mtn".into(),
                rewrites_sender: false,
                takes_binary: true,
            },
            CarrierRules {
                name: "hosted".into(),
                rewrites_sender: true,
                takes_binary: true,
            },
        ],
        gateways: vec![
            refund,
            gateway(Gateway::DirectCorporate, 8),
            gateway(Gateway::DualBackup, 0),
            gateway(Gateway::Otp, 9),
        ],
        code_words: CodeWords::standard(),
        max_recipients: 3,
        private_callbacks: false,
    }
}

pub(super) fn customer() -> Customer {
    let sender = |name: &str, status, international| {
        let sender = SenderId {
            name: name.into(),
            status,
            purpose: String::new(),
            international,
            approved_at_ms: None,
            rejection_reason: None,
        };
        (sender::key(name), sender)
    };
    Customer {
        account: Account {
            id: AccountId(7),
            email: String::new(),
            name: String::new(),
            status: AccountStatus::Active,
            verification: Verification::Verified,
            created_at_ms: 0,
        },
        senders: HashMap::from([
            sender("Ogene", SenderStatus::Approved, false),
            sender("Waiting", SenderStatus::Pending, false),
            sender("Abroad", SenderStatus::Approved, true),
        ]),
        resale: None,
    }
}

/// Parses fields from `name=value` pairs.
pub(crate) fn fields(text: &str) -> SendFields {
    let mut fields = SendFields::default();
    for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
        let value = Some(value.to_owned());
        match name {
            "from" => fields.from = value,
            "to" => fields.to = value,
            "body" => fields.body = value,
            "gateway" => fields.gateway = value,
            "dnd" => fields.dnd = value,
            "unicode" => fields.unicode = value,
            "append" => fields.append_sender = value,
            "url" => fields.callback_url = value,
            "reference" => fields.customer_reference = value,
            "ignored" => fields.ignored.extend(value),
            _ => panic!("{name}"),
        }
    }
    fields
}

fn judge(text: &str) -> Result<Draft, Refusal> {
    draft(
        fields(text),
        &customer(),
        Environment::Live,
        &rules(),
        &Prohibited::default(),
        0,
    )
}

const GOOD: &str = "from=ogene&to=2348031234567&body=Good morning";

type IsIt = fn(&Refusal) -> bool;

#[test]
fn the_first_fault_in_the_check_order_is_the_answer() {
    let long = "x".repeat(1531);
    let faults: [(&str, IsIt); 16] = [
        ("to=&body=", |fault| *fault == Refusal::FromMissing),
        ("from=Ogene&body=", |fault| *fault == Refusal::ToMissing),
        ("from=Ogene&to=,&body=hi", |fault| {
            *fault == Refusal::ToMissing
        }),
        ("from=Ogene&to=1&body= ", |fault| {
            *fault == Refusal::BodyMissing
        }),
        ("from=LongerThan11&to=1&body=hi&gateway=x", |fault| {
            *fault == Refusal::SenderForm
        }),
        ("from=Other&to=1&body=hi&gateway=x", |fault| {
            matches!(fault, Refusal::SenderNotApproved)
        }),
        ("from=Waiting&to=1&body=hi", |fault| {
            matches!(fault, Refusal::SenderNotApproved)
        }),
        ("from=Ogene&to=1&body=hi&gateway=x", |fault| {
            matches!(fault, Refusal::UnknownGateway { .. })
        }),
        ("from=Ogene&to=1&body=hi&gateway=7", |fault| {
            matches!(fault, Refusal::UnknownGateway { .. })
        }),
        ("from=Ogene&to=1&body=hi&unicode=maybe", |fault| {
            matches!(fault, Refusal::Malformed(_))
        }),
        ("from=Ogene&to=1&body=hi&url=ftp://x", |fault| {
            matches!(fault, Refusal::CallbackUrl(_))
        }),
        ("from=Ogene&to=1&body=hi", |fault| {
            *fault == Refusal::RecipientInvalid
        }),
        ("from=Ogene&to=1,2&body=hi", |fault| {
            *fault == Refusal::NoValidRecipient
        }),
        ("from=Ogene&to=1,2,3,4&body=hi", |fault| {
            matches!(fault, Refusal::TooManyRecipients { .. })
        }),
        ("from=Ogene&to=2348031234567&body=🙂", |fault| {
            *fault == Refusal::BodyMissing
        }),
        (
            "from=Ogene&to=2348031234567&body=Your OTP is 482913",
            |fault| matches!(fault, Refusal::Transactional { .. }),
        ),
    ];
    for (text, is_it) in faults {
        let fault = judge(text).expect_err(text);
        assert!(is_it(&fault), "{text}: {fault:?}");
    }
    let fault = judge(&format!("from=Ogene&to=2348031234567&body={long}")).unwrap_err();
    assert_eq!(
        fault,
        Refusal::TooLong {
            length: 1531,
            limit: 1530
        }
    );
}

#[test]
fn a_good_send_becomes_a_draft_with_its_price() {
    let draft = judge(GOOD).unwrap();
    assert_eq!(draft.sender, "Ogene");
    assert_eq!(draft.cost, Money::from_naira(6));
    assert_eq!(
        (draft.page_count, draft.recipients.len(), draft.gateway),
        (1, 1, Gateway::DirectRefund)
    );
}

#[test]
fn a_hosted_carrier_gets_the_sender_in_the_text_and_pays_for_it() {
    // 0805 is Glo, whose carrier replaces the sender ID here. 160 characters and a suffix are two
    // pages.
    let body = "x".repeat(160);
    let draft = judge(&format!(
        "from=Ogene&to=08031234567,08051234567&body={body}"
    ))
    .unwrap();
    let suffixed: Vec<_> = draft
        .classes
        .iter()
        .map(|class| (class.carrier, class.suffixed))
        .collect();
    assert_eq!(suffixed, [(0, false), (1, true)]);
    assert_eq!(draft.page_count, 2);
    assert_eq!(draft.cost, Money::from_naira(6 + 12));
    let none = judge(&format!("from=Ogene&to=08051234567&body={body}&append=1")).unwrap();
    assert_eq!((none.page_count, none.classes[0].suffixed), (1, false));
}

#[test]
fn dual_backup_charges_the_dearer_leg_and_reserves_the_rest() {
    let draft = judge(&format!("{GOOD}&dnd=4")).unwrap();
    assert_eq!(draft.gateway, Gateway::DualBackup);
    assert_eq!(draft.cost, Money::from_naira(8));
    assert_eq!(draft.classes[0].reserve, Money::from_naira(2));
}

#[test]
fn a_message_expires_after_the_time_of_its_gateway() {
    const MORNING: i64 = 7 * 3_600_000;
    let mut rules = rules();
    rules.gateways[0].quiet_hours = Some(QuietHours {
        from_minute: 20 * 60,
        until_minute: 8 * 60,
    });
    for gateway in &mut rules.gateways {
        gateway.receipt_timeout_ms = 3_600_000;
    }
    let table = [
        (Gateway::Otp, MORNING - 3_600_000),
        (Gateway::DirectRefund, -5 * 3_600_000),
        (Gateway::DualBackup, -5 * 3_600_000),
        (Gateway::International, MORNING - 7 * 86_400_000),
    ];
    for (gateway, over_before) in table {
        assert_eq!(
            rules.over_before(gateway, MORNING),
            over_before,
            "{gateway:?}"
        );
    }
}

#[test]
fn the_refusal_of_an_unknown_dnd_lists_the_valid_ones() {
    let fault = judge(&format!("{GOOD}&dnd=9")).unwrap_err();
    let message = fault.to_string();
    assert!(matches!(fault, Refusal::UnknownGateway { .. }), "{message}");
    assert!(
        message.contains("`dnd` is 1 for direct-refund, 2,"),
        "{message}"
    );
}

#[test]
fn an_international_sender_needs_the_international_gateway() {
    let fault = judge("from=Abroad&to=2348031234567&body=hi").unwrap_err();
    assert!(
        matches!(fault, Refusal::InternationalSender { .. }),
        "{fault:?}"
    );
    let message = fault.to_string();
    assert!(
        message.contains("No gateway for it is open here."),
        "{message}"
    );
}

#[test]
fn transactional_text_is_carried_where_it_is_allowed() {
    let text = "from=Ogene&to=2348031234567&body=Your OTP is 482913";
    let message = judge(text).unwrap_err().to_string();
    assert!(
        message.contains("Send it over `direct-corporate` or `otp`."),
        "{message}"
    );
    assert!(judge(&format!("{text}&gateway=otp")).is_ok());
    assert!(judge(&format!("{text}&gateway=2")).is_ok());
}

#[test]
fn the_fingerprint_is_of_text_and_recipients_alone() {
    let print = |text: &str| judge(text).unwrap().fingerprint;
    let two = "from=Ogene&to=08031234567,08051234567&body=hi";
    assert_eq!(
        print(two),
        print("from=Ogene&to=2348051234567,2348031234567&body=hi&gateway=2")
    );
    assert_ne!(print(two), print("from=Ogene&to=08031234567&body=hi"));
    assert_ne!(
        print(two),
        print("from=Ogene&to=08031234567,08051234567&body=ho")
    );
}

#[test]
fn sandbox_numbers_are_recipients_in_the_sandbox_only() {
    let text = "from=Ogene&to=2348000000001&body=hi";
    assert_eq!(judge(text).unwrap_err(), Refusal::RecipientInvalid);
    assert!(
        draft(
            fields(text),
            &customer(),
            Environment::Sandbox,
            &rules(),
            &Prohibited::default(),
            0,
        )
        .is_ok()
    );
}
