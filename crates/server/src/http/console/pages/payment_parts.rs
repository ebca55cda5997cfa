//! Parts that the pages of payments share: those of customers and those of operators.

use console::figures::{capitalised, naira};
use console::parts::{Badge, Tone};
use domain::Component;
use domain::payment::{Received, TopUpState};

/// Returns the badge of the state of a top-up.
pub(super) fn state(state: TopUpState) -> Badge {
    let (tone, text) = match state {
        TopUpState::Pending => (Tone::Waiting, "Pending"),
        TopUpState::Paid => (Tone::Good, "Paid"),
        TopUpState::Failed => (Tone::Bad, "Failed"),
        TopUpState::Expired => (Tone::Plain, "Expired"),
        TopUpState::Mismatch => (Tone::Warning, "Mismatch"),
    };
    Badge::new(tone, text)
}

/// Returns the name of a payment provider as people write it.
pub(super) fn provider(name: &str) -> String {
    capitalised(name)
}

/// Longest name of a currency that is shown. The provider gives it.
const MAX_CURRENCY_CHARACTERS: usize = 12;

/// Returns the money that a provider received. Another currency is written out.
pub(super) fn received(received: &Received) -> String {
    if received.currency == domain::payment::CURRENCY {
        naira(received.amount)
    } else {
        let shown = received.currency.chars().take(MAX_CURRENCY_CHARACTERS);
        format!("{} {}", received.amount, shown.collect::<String>())
    }
}

/// Returns the facts whose values are known.
pub(super) fn known<const N: usize>(facts: [(&str, Option<String>); N]) -> Vec<(String, String)> {
    let facts = facts.into_iter();
    facts
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// Returns the name of a component of the wallet.
pub(super) const fn component(component: Component) -> &'static str {
    match component {
        Component::PromoBonus => "Promotional bonus",
        Component::VolumeBonus => "Volume bonus",
        Component::SmsBonus => "SMS bonus",
        Component::SmsWallet => "SMS wallet",
        Component::MainBalance => "Main balance",
        Component::UniversalWallet => "Universal wallet",
    }
}
