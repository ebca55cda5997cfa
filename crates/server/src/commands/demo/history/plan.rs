//! The plan of the history: what the customer of the demo sends in an hour. Equal seeds make equal
//! plans.

use super::super::callbacks::REFUSING_PATH;
use super::super::customer::{ORDER_SENDER_ID, OTP_SENDER_ID};
use super::super::first_message::SENDER_ID;
use super::super::simulator::{EXPIRED, PENDING, REFUSED, REJECTED, UNDELIVERED};
use domain::Gateway;

/// Minutes of the history.
const MINUTES: i64 = 60;
/// Prefixes of numbers of four networks. The first two occur more often.
const PREFIXES: [&str; 6] = ["234803", "234806", "234802", "234903", "234805", "234809"];
/// The endings of numbers that are not delivered, with how many of a thousand numbers have them.
const ENDINGS: [(&str, u64); 5] = [
    (UNDELIVERED, 25),
    (EXPIRED, 8),
    (REJECTED, 6),
    (REFUSED, 8),
    (PENDING, 4),
];
const NAMES: [&str; 8] = [
    "Adaeze", "Bola", "Chidi", "Emeka", "Fatima", "Ngozi", "Tunde", "Yusuf",
];
/// The path to which the callbacks of most orders go.
const ORDERS_PATH: &str = "/";

/// An event of the hour.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Action {
    /// The customer sends a text.
    Send(Text),
    /// The customer sends a one-time password.
    OneTimePassword(Text),
    /// The customer schedules a text for hours after the end of the history.
    Schedule(Text, i64),
    /// The customer cancels the last scheduled message.
    Cancel,
    /// An operator credits the account with a payment of so many naira.
    Credit(i64),
}

/// A text for some recipients.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Text {
    pub(super) from: &'static str,
    pub(super) gateway: Gateway,
    pub(super) to: Vec<String>,
    pub(super) body: String,
    pub(super) unicode: bool,
    /// The path of its callbacks at the receiver.
    pub(super) callback: Option<&'static str>,
    pub(super) reference: Option<String>,
}

/// An action and its second of the hour.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Planned {
    pub(super) at_s: i64,
    /// `true` if a slow machine may leave it out.
    pub(super) is_routine: bool,
    pub(super) action: Action,
}

impl Text {
    /// Returns the number of recipients with one of these endings.
    pub(super) fn count(&self, endings: &[&str]) -> u64 {
        let is_one = |number: &&String| endings.iter().any(|ending| number.ends_with(ending));
        self.to.iter().filter(is_one).count() as u64
    }
}

/// Returns what happens in the hour, in its order.
pub(super) fn plan(seed: u64) -> Vec<Planned> {
    let mut choices = Choices(seed);
    let mut planned = Vec::new();
    for minute in 0..MINUTES {
        let mut second = 0;
        let routine = routine(minute, &mut choices).into_iter();
        let routine = routine.map(|action| (true, action));
        let event = event(minute, &mut choices).map(|action| (false, action));
        for (is_routine, action) in routine.chain(event) {
            second += 2 + choices.small(9);
            planned.push(Planned {
                at_s: minute * 60 + second,
                is_routine,
                action,
            });
        }
    }
    planned
}

/// Returns the orders and one-time passwords of a minute.
fn routine(minute: i64, choices: &mut Choices) -> Vec<Action> {
    let orders = 1 + choices.below(3);
    let mut actions: Vec<_> = (0..orders)
        .map(|_| Action::Send(order(minute, choices)))
        .collect();
    if minute % 2 == 1 {
        actions.push(Action::OneTimePassword(one_time_password(choices)));
    }
    actions
}

/// Returns what else happens in a minute.
fn event(minute: i64, choices: &mut Choices) -> Option<Action> {
    Some(match minute {
        4 => Action::Send(offer(44, choices)),
        12 | 57 => Action::Send(alert(choices)),
        17 => Action::Schedule(reminder(18, choices), 1),
        19 => Action::Send(abroad()),
        23 => Action::Send(greeting(26, choices)),
        28 => Action::Cancel,
        31 => Action::Credit(5_000),
        34 => Action::Send(notice(60, choices)),
        41 => Action::Send(invoice(choices)),
        45 => Action::Schedule(reminder(24, choices), 2),
        52 => Action::Send(offer(36, choices)),
        _ => return None,
    })
}

/// An order of the shop: one page, and a callback.
fn order(minute: i64, choices: &mut Choices) -> Text {
    let number = 48_000 + minute * 10 + choices.small(9);
    let name = NAMES[choices.index(NAMES.len())];
    Text {
        from: ORDER_SENDER_ID,
        gateway: Gateway::DirectRefund,
        to: choices.numbers(1),
        body: format!("Hi {name}, your order {number} has left our store. The rider calls you."),
        unicode: false,
        callback: Some(ORDERS_PATH),
        reference: Some(format!("order-{number}")),
    }
}

fn one_time_password(choices: &mut Choices) -> Text {
    Text {
        from: OTP_SENDER_ID,
        gateway: Gateway::Otp,
        to: choices.numbers(1),
        body: "{code} is your PayQuick code. It is good for 10 minutes. Never share it.".to_owned(),
        unicode: false,
        callback: None,
        reference: None,
    }
}

/// A campaign of two pages.
fn offer(recipients: usize, choices: &mut Choices) -> Text {
    Text {
        from: ORDER_SENDER_ID,
        gateway: Gateway::DirectRefund,
        to: choices.delivered_or_late(recipients),
        body: format!(
            "Weekend market at ShopLagos: rice, oil and tomatoes at the price of last month, and free delivery in \
             Ikeja, Yaba and Surulere above {} naira. Order in the app until Sunday, 8 pm.",
            10 + choices.below(20)
        ),
        unicode: false,
        callback: None,
        reference: Some(format!("weekend-{recipients}")),
    }
}

/// A text of one page over the gateway without refunds.
fn notice(recipients: usize, choices: &mut Choices) -> Text {
    Text {
        from: SENDER_ID,
        gateway: Gateway::DirectCorporate,
        to: choices.numbers(recipients),
        body: "Our offices close at 2 pm today for the public holiday. The app stays open."
            .to_owned(),
        unicode: false,
        callback: Some(ORDERS_PATH),
        reference: Some("holiday-notice".to_owned()),
    }
}

/// A Unicode text in Yoruba.
fn greeting(recipients: usize, choices: &mut Choices) -> Text {
    Text {
        from: ORDER_SENDER_ID,
        gateway: Gateway::DirectCorporate,
        to: choices.delivered_or_late(recipients),
        body: "Ẹ kú ọdún, ẹ kú ìyèdún! Inú wa dùn láti sìn yín. ShopLagos".to_owned(),
        unicode: true,
        callback: None,
        reference: Some("odun-2026".to_owned()),
    }
}

/// A text over the gateway with a second leg.
fn alert(choices: &mut Choices) -> Text {
    Text {
        from: SENDER_ID,
        gateway: Gateway::DualBackup,
        to: (0..4).map(|_| choices.number("")).collect(),
        body: format!(
            "Alert: the generator of site {} runs on its last 40 litres.",
            10 + choices.below(80)
        ),
        unicode: false,
        callback: Some(ORDERS_PATH),
        reference: Some("site-alert".to_owned()),
    }
}

fn abroad() -> Text {
    let numbers = ["447700900123", "12025550143", "233244123456"];
    Text {
        from: SENDER_ID,
        gateway: Gateway::International,
        to: numbers.map(str::to_owned).to_vec(),
        body: "Your parcel from Lagos has arrived at the office of your city.".to_owned(),
        unicode: false,
        callback: None,
        reference: Some("parcel-7731".to_owned()),
    }
}

/// A text whose callback is refused.
fn invoice(choices: &mut Choices) -> Text {
    Text {
        from: SENDER_ID,
        gateway: Gateway::DirectCorporate,
        to: vec![choices.number("")],
        body: "Your invoice for November is ready in the app.".to_owned(),
        unicode: false,
        callback: Some(REFUSING_PATH),
        reference: Some("invoice-2211".to_owned()),
    }
}

fn reminder(recipients: usize, choices: &mut Choices) -> Text {
    Text {
        from: ORDER_SENDER_ID,
        gateway: Gateway::DirectRefund,
        to: (0..recipients).map(|_| choices.number("")).collect(),
        body: format!("Reminder: your slot for delivery {recipients} is this evening."),
        unicode: false,
        callback: None,
        reference: Some("evening-slots".to_owned()),
    }
}

/// Pseudo-random choices (a linear congruential generator).
struct Choices(u64);

impl Choices {
    /// Returns a number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Returns a number below a small `limit`.
    fn small(&mut self, limit: u64) -> i64 {
        i64::try_from(self.below(limit)).unwrap_or(0)
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// Returns a number with this ending, or one that is delivered.
    fn number(&mut self, ending: &str) -> String {
        let prefix = PREFIXES[self.index(PREFIXES.len()).min(self.index(PREFIXES.len()))];
        let middle = self.below(1_000);
        if ending.is_empty() {
            // No ending of the simulator begins with another digit than 0.
            format!("{prefix}{middle:03}{}", 1_000 + self.below(9_000))
        } else {
            format!("{prefix}{middle:03}{ending}")
        }
    }

    /// Returns numbers of which some are not delivered.
    fn numbers(&mut self, count: usize) -> Vec<String> {
        let numbers = (0..count).map(|_| {
            let mut point = self.below(1_000);
            let ending = ENDINGS.iter().find(|&&(_, weight)| {
                let is_it = point < weight;
                point = point.saturating_sub(weight);
                is_it
            });
            self.number(ending.map_or("", |&(ending, _)| ending))
        });
        numbers.collect()
    }

    /// Returns numbers that the simulator does not refuse at the submit. A refused recipient of
    /// several pages would be submitted once and not for each page.
    fn delivered_or_late(&mut self, count: usize) -> Vec<String> {
        let mut numbers = self.numbers(count);
        numbers.retain(|number| !number.ends_with(REFUSED));
        numbers
    }
}

#[cfg(test)]
mod tests;
