//! Groups of recipients with the same carrier, text and charge.

use crate::gateway::{AppendSender, GatewayRules, Rulebook};
use crate::ids::AccountId;
use crate::money::Money;
use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use crate::resale::Resale;
use crate::text::{Alphabet, Text};

/// The recipients of one network, with the same carrier, text and charge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Class {
    /// The index of the preferred carrier in [`Rulebook::carriers`].
    pub carrier: usize,
    /// `true` if the sender ID is appended to the text.
    pub suffixed: bool,
    /// The number of pages.
    pub pages: i64,
    /// The charge for one recipient.
    pub charge: Money,
    /// The part of the charge that is refunded if a second leg is never submitted.
    pub reserve: Money,
    /// The part of the charge that the parent of a sub-account gets.
    pub margin: Money,
    /// The recipients in the order of the request.
    pub recipients: Vec<Recipient>,
}

/// Groups the recipients by network, which determines carrier, suffix and charge.
pub(super) fn classes(
    recipients: &[Recipient],
    text: &Text,
    sender: &str,
    append: AppendSender,
    gateway: &GatewayRules,
    payer: Payer<'_>,
    rules: &Rulebook,
) -> Vec<Class> {
    let plain_pages = text.page_count();
    let suffixed_pages = match append {
        AppendSender::None => plain_pages,
        AppendSender::Hosted | AppendSender::All => text.with_sender(sender).page_count(),
    };
    let unicode = text.alphabet() == Alphabet::Ucs2;
    // A linear search is fast enough, since networks are few.
    let mut by_network: Vec<(Option<u8>, Class)> = Vec::new();
    for &recipient in recipients {
        let network = rules.network_of(recipient);
        let new = || {
            let Route { carrier, suffixed } = route(network, append, gateway, rules);
            let pages = if suffixed {
                suffixed_pages
            } else {
                plain_pages
            };
            let pages = i64::try_from(pages).unwrap_or(i64::MAX);
            let charge = charge(gateway, rules, payer, network, unicode);
            Class {
                carrier,
                suffixed,
                pages,
                charge: charge.charge * pages,
                reserve: charge.reserve * pages,
                margin: charge.margin * pages,
                recipients: Vec::new(),
            }
        };
        let known = by_network.iter().position(|(of, _)| *of == network);
        let place = known.unwrap_or_else(|| {
            by_network.push((network, new()));
            by_network.len() - 1
        });
        by_network[place].1.recipients.push(recipient);
    }
    by_network.sort_unstable_by_key(|(network, _)| *network);
    by_network.into_iter().map(|(_, class)| class).collect()
}

/// The route to one network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// The index of the preferred carrier in [`Rulebook::carriers`].
    pub(super) carrier: usize,
    /// `true` if the sender ID is appended to the text.
    pub(super) suffixed: bool,
}

/// Returns the route to a network.
pub(super) fn route(
    network: Option<u8>,
    append: AppendSender,
    gateway: &GatewayRules,
    rules: &Rulebook,
) -> Route {
    let first = rules.leg(gateway.gateway, crate::leg::Leg::First);
    let carriers = first.unwrap_or(gateway).preference.carriers(network);
    let carrier = carriers.first().copied().unwrap_or(0);
    let suffixed = match append {
        AppendSender::None => false,
        AppendSender::All => true,
        AppendSender::Hosted => rules
            .carriers
            .get(carrier)
            .is_some_and(|carrier| carrier.rewrites_sender),
    };
    Route { carrier, suffixed }
}

/// The account that pays, with the terms of its parent if it is a sub-account.
#[derive(Clone, Copy)]
pub(super) struct Payer<'a> {
    pub(super) account: AccountId,
    pub(super) resale: Option<&'a Resale>,
}

/// The charge of one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageCharge {
    /// The charge.
    pub(super) charge: Money,
    /// The part of it that is reserved for a second leg.
    pub(super) reserve: Money,
    /// The part of it that the parent gets.
    pub(super) margin: Money,
}

/// Returns the charge of one page to a network.
pub(super) fn charge(
    gateway: &GatewayRules,
    rules: &Rulebook,
    payer: Payer<'_>,
    network: Option<u8>,
    unicode: bool,
) -> PageCharge {
    // The operator's price of a sub-account is that of its parent.
    let account = payer.resale.map_or(payer.account, |resale| resale.parent);
    let of = |rules: &GatewayRules| {
        let price = rules.tariff.price(account, network);
        if unicode { price.unicode } else { price.plain }
    };
    let leg = |leg| rules.leg(gateway.gateway, leg).map_or(Money::ZERO, of);
    let (own, reserve) = if gateway.legs.is_none() {
        (of(gateway), Money::ZERO)
    } else {
        let (first, second) = (leg(crate::leg::Leg::First), leg(crate::leg::Leg::Second));
        let dearer = first.max(second);
        (dearer, dearer - first)
    };
    let charge = payer
        .resale
        .map_or(own, |resale| resale.paid(gateway.gateway, unicode, own));
    PageCharge {
        charge,
        reserve,
        margin: charge - own,
    }
}

/// Returns the charge of one recipient of a text by the current prices, and the terms of the parent
/// if the account is a sub-account.
pub fn recipient_charge(
    rules: &Rulebook,
    gateway: crate::gateway::Gateway,
    (account, resale): (AccountId, Option<&Resale>),
    recipient: Recipient,
    unicode: bool,
    pages: i64,
) -> Option<Money> {
    let network = rules.network_of(recipient);
    let gateway = rules.gateway(gateway)?;
    let payer = Payer { account, resale };
    Some(charge(gateway, rules, payer, network, unicode).charge * pages)
}

/// Returns the part of the charges that the parent gets.
pub(super) fn total_margin(classes: &[Class]) -> Money {
    let count = |class: &Class| i64::try_from(class.recipients.len()).unwrap_or(i64::MAX);
    classes
        .iter()
        .map(|class| class.margin * count(class))
        .sum()
}

pub(super) fn total_cost(classes: &[Class]) -> Result<Money, Refusal> {
    classes
        .iter()
        .try_fold(Money::ZERO, |sum, class| {
            let count = i64::try_from(class.recipients.len()).ok()?;
            sum.checked_add(class.charge.checked_mul(count)?)
        })
        .ok_or_else(|| {
            Refusal::Malformed("The cost of this send exceeds what can be counted.".to_owned())
        })
}
