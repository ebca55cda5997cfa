//! The settings of the simulation. Hours are shortened to minutes.

use super::dice::Dice;
use super::provider;
use super::state::State;
use domain::payment::{Bonus, Percent, Terms};
use domain::{
    CarrierRules, CodeWords, Gateway, GatewayRules, InDoubt, Legs, Money, NumberPlan, Preference,
    Price, Rulebook, Tariff,
};
use engine::{
    BindMode, CallbackSettings, CarrierSettings, GuardSettings, InboundSettings, Limits,
    PaymentSettings, Protocol, Retention, SandboxLimits, Settings, SmppSettings,
};
use std::collections::HashMap;
use std::time::Duration;

pub(crate) const CARRIERS: [&str; 2] = ["north", "south"];
/// The time after which a recipient without an outcome expires.
pub(crate) const TIMEOUT_MS: i64 = 120_000;
/// The price of a page, and what a sub-account pays more.
pub(crate) const PRICE: i64 = 4;
pub(crate) const MARGIN: i64 = 2;
/// The times in which a top-up expires. The longer one is longer than the simulation.
const LIFETIMES_MS: [i64; 2] = [60_000, 30 * 86_400_000];
/// An in-flight window that never limits delayed multipart recipients. Some seeds use it.
const WIDE_WINDOW: usize = 1_000;
/// Number of retries of a callback.
pub(crate) const RETRIES: usize = 10;

/// The policy of gateways that resend.
const RESEND: InDoubt = InDoubt::Resend { hold_ms: 10_000 };

pub(crate) fn settings(state: &mut State) -> Settings {
    let otp = state.dice.pick(&[RESEND, InDoubt::Hold]);
    state.otp_copies = if otp == RESEND { 2 } else { 1 };
    state.wide = state.dice.percent(30);
    let (wide, dice) = (state.wide, &mut state.dice);
    Settings {
        rules: rulebook(otp),
        carriers: CARRIERS.map(|name| carrier(name, wide, dice)).into(),
        callbacks: CallbackSettings {
            allow_private_targets: false,
            retry_delays: (1..=RETRIES as u64)
                .map(|number| Duration::from_secs(number * 2))
                .collect(),
            concurrency_per_origin: 2,
            concurrency: 16,
        },
        limits: Limits {
            otp_per_number: 5,
            sends_per_minute: 10_000,
            reports_per_minute: 10_000,
            reads_per_minute: 10_000,
            unknown_tokens_per_minute: 100,
            accept_queue: 64,
            idempotency_window_ms: 86_400_000,
            sandbox: SandboxLimits {
                recipients_per_minute: 1_000_000,
                callbacks_per_minute: 1_000_000,
            },
        },
        guards: GuardSettings::default(),
        retention: Retention::default(),
        inbound: InboundSettings::default(),
        payments: payments(dice),
        mail: None,
        sessions: domain::user::session::SessionLimits::default(),
    }
}

fn payments(dice: &mut Dice) -> PaymentSettings {
    let settings = PaymentSettings::default();
    PaymentSettings {
        terms: Terms {
            minimum: Money::from_naira(1),
            bonuses: vec![Bonus {
                from: Money::from_naira(100),
                percent: Percent::from_hundredths(500),
            }],
            expires_ms: dice.pick(&LIFETIMES_MS),
            ..settings.terms
        },
        providers: vec![provider::settings()],
        sweep: Duration::from_secs(20),
        ..settings
    }
}

fn carrier(name: &str, wide: bool, dice: &mut Dice) -> CarrierSettings {
    let binds = usize::try_from(dice.between(1, 3)).unwrap();
    let window = if wide {
        WIDE_WINDOW
    } else {
        usize::try_from(dice.between(1, 9)).unwrap()
    };
    CarrierSettings {
        name: name.to_owned(),
        binds,
        window,
        in_doubt_limit: window + window / 2,
        max_per_second: dice.pick(&[None, Some(5), Some(50)]),
        response_timeout: Duration::from_secs(4),
        tls_ca: Vec::new(),
        protocol: Protocol::Smpp(SmppSettings {
            address: format!("{name}:2775"),
            system_id: "ogene".to_owned(),
            password: "secret".to_owned(),
            system_type: String::new(),
            service_type: String::new(),
            enquire_link: Duration::from_secs(5),
            tls: false,
            receipt_ids: smpp::ReceiptIds::Exact,
            unmarked_receipts: true,
            send_validity: true,
            bind_mode: dice.pick(&[BindMode::Transceiver, BindMode::TransmitterAndReceiver]),
        }),
    }
}

fn rulebook(otp: InDoubt) -> Rulebook {
    let dual = Legs {
        first: Gateway::DirectRefund,
        second: Gateway::DirectCorporate,
        timeout_ms: 30_000,
    };
    let gateways = vec![
        gateway(Gateway::DirectRefund, [0, 1], RESEND),
        gateway(Gateway::DirectCorporate, [1, 0], InDoubt::Hold),
        gateway(Gateway::Otp, [0, 1], otp),
        GatewayRules {
            legs: Some(dual),
            preference: Preference::default(),
            ..gateway(Gateway::DualBackup, [0, 1], RESEND)
        },
    ];
    Rulebook {
        plan: NumberPlan::nigeria(),
        carriers: CARRIERS
            .map(|name| CarrierRules {
                name: name.to_owned(),
                rewrites_sender: false,
                takes_binary: true,
            })
            .into(),
        gateways,
        code_words: CodeWords::new(&[]),
        max_recipients: 10_000,
        private_callbacks: false,
    }
}

fn gateway(gateway: Gateway, carriers: [usize; 2], in_doubt: InDoubt) -> GatewayRules {
    let price = Money::from_naira(PRICE);
    GatewayRules {
        gateway,
        tariff: Tariff {
            base: Price {
                plain: price,
                unicode: price,
            },
            networks: Vec::new(),
            accounts: HashMap::new(),
        },
        preference: Preference {
            default: carriers.into(),
            networks: Vec::new(),
        },
        refund_undelivered: gateway != Gateway::DirectCorporate,
        transactional: true,
        in_doubt,
        receipt_timeout_ms: TIMEOUT_MS,
        validity_ms: TIMEOUT_MS,
        legs: None,
        respects: domain::Respected::default(),
        quiet_hours: None,
    }
}
