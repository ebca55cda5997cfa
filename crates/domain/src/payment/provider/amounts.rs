//! Amounts as providers write them: numbers or texts, in naira or kobo. No amount is ever a float.

use crate::money::Money;
use crate::payment::percent::UNITS_PER_KOBO;
use serde_json::value::RawValue;

/// Reads naira, such as `1075`, `1075.5` or `"1075.00"`.
pub(super) fn naira(raw: &RawValue) -> Option<Money> {
    raw.get().trim_matches('"').parse().ok()
}

/// Reads kobo, such as `107500`.
pub(super) fn kobo(raw: &RawValue) -> Option<Money> {
    let kobo: i64 = raw.get().trim_matches('"').parse().ok()?;
    Some(Money::from_units(kobo.checked_mul(UNITS_PER_KOBO)?))
}

/// Reads an id, which may be a number or a text.
pub(super) fn id(raw: &RawValue) -> &str {
    raw.get().trim_matches('"')
}

/// Returns an amount in kobo.
pub(super) fn in_kobo(amount: Money) -> i64 {
    amount.units() / UNITS_PER_KOBO
}
