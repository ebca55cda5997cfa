//! The form of a top-up: its price, its review, and the top-up itself.

use super::super::failure::{Failure, sentence};
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::payment_parts::provider;
use super::send_parts::{admit, fresh_key, given_pairs, status_of};
use super::top_ups::{NEW, PATH, is_open};
use console::Section;
use console::figures::naira;
use console::parts::{Choice, Field, Figure, Kind, Tone};
use console::screens::{Confirmation, Counter, TopUpForm};
use domain::Environment;
use domain::idempotency::IdempotencyKey;
use domain::payment::{Priced, Terms, TopUp, TopUpFields, TopUpId, TopUpRequest};
use engine::{Changed, KeyedAnswer, PaymentTerms, Purpose, top_ups};
use std::sync::Arc;

/// The fields of the form.
const FIELDS: [&str; 2] = ["amount", "provider"];

/// `GET /console/top-ups/new`. The query may have an amount. The list names the remedy where there is
/// no provider.
pub(super) async fn form(visitor: Visitor) -> Answered {
    if !is_open(&visitor) {
        return Ok(visitor.redirect(PATH));
    }
    let fields = visitor.query().clone();
    Ok(again(&visitor, &fields, None))
}

/// `POST /console/top-ups/price`: the price alone.
pub(super) async fn price(visitor: Visitor, fields: Form) -> Answered {
    let terms = visitor.engine().payments().terms().terms;
    Ok(visitor.answer(&counter(&terms, &fields)))
}

/// `POST /console/top-ups/review`: what will be paid and credited, with one button.
pub(super) async fn review(visitor: Visitor, fields: Form) -> Answered {
    let offer = visitor.engine().payments().terms();
    let request = match TopUpRequest::read(&given(&visitor, &fields), &offer.terms) {
        Ok(request) => request,
        Err(refusal) => {
            return Ok(again(
                &visitor,
                &fields,
                Some(sentence(&refusal.to_string())),
            ));
        }
    };
    let mut hidden = given_pairs(&fields, &FIELDS);
    hidden.push(fresh_key(&visitor));
    let title = format!("Top up {}?", naira(request.price.amount));
    Ok(visitor.answer(&Confirmation {
        shell: visitor.shell(&title, Section::TopUps),
        text: "The next page leads to the payment. Nothing is charged before you pay there."
            .to_owned(),
        facts: facts(&visitor, &offer, &request),
        fields: Vec::new(),
        hidden,
        href: PATH.to_owned(),
        action: "Make the top-up".to_owned(),
        back: NEW.to_owned(),
        is_dangerous: false,
    }))
}

/// `POST /console/top-ups`. The provider makes a page for the payment, to which the page of the
/// top-up leads.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    let key = IdempotencyKey::read([fields.get("key").as_bytes()]);
    let keyed = key.ok().flatten().map(|key| KeyedAnswer {
        key,
        write: Arc::new(|top_up: &TopUp| top_up.id.to_string()),
    });
    let made = async {
        let admission = admit(&visitor, Purpose::Read).await?;
        let fields = given(&visitor, &fields);
        let made = top_ups::create_top_up(&admission, &fields, keyed).await;
        made.map_err(Failure::from)
    };
    let id = match made.await {
        Ok(Changed::First(top_up)) => Some(top_up.id),
        Ok(Changed::Replay(kept)) => kept.body.parse::<TopUpId>().ok(),
        Err(failure) => {
            let (_, text) = failure.shown()?;
            return Ok(again(&visitor, &fields, Some(text)));
        }
    };
    let path = id.map_or_else(|| PATH.to_owned(), |id| format!("{PATH}/{id}"));
    Ok(visitor.redirect(&path))
}

/// Returns the fields of the request, with the page to which the provider leads back.
fn given(visitor: &Visitor, fields: &Form) -> TopUpFields {
    let given = |name: &str| fields.find(name).map(str::to_owned);
    TopUpFields {
        amount: given("amount"),
        provider: given("provider"),
        return_url: Some(format!("{}{PATH}", visitor.origin())),
    }
}

/// Shows the form, with the reason of a refusal if there is one.
fn again(visitor: &Visitor, fields: &Form, error: Option<String>) -> axum::response::Response {
    let offer = visitor.engine().payments().terms();
    let status = status_of(error.as_ref());
    let screen = TopUpForm {
        shell: visitor.shell("Top up", Section::TopUps),
        error,
        fields: form_fields(visitor, &offer, fields),
        price: counter(&offer.terms, fields),
    };
    visitor.answer_with(status, &screen)
}

fn form_fields(visitor: &Visitor, offer: &PaymentTerms, fields: &Form) -> Vec<Field> {
    let hint = format!(
        "The wallet gets this amount, at least {}. VAT comes on top.",
        naira(offer.terms.minimum)
    );
    let amount = Field::text("amount", "Amount in naira")
        .hint(hint)
        .value(fields.get("amount"))
        .inputmode("decimal")
        .autocomplete("off");
    let is_live = visitor.environment() == Environment::Live;
    let choices = offer.providers.iter();
    let choices = choices.map(|(name, _)| Choice::new(*name, provider(name)));
    let providers = Field::new(Kind::Radio(choices.collect()), "provider", "Pay with");
    let default = offer.providers.first().map_or("", |(name, _)| *name);
    let chosen = fields.find("provider").unwrap_or(default);
    let has_choice = is_live && offer.providers.len() > 1;
    let providers = has_choice.then(|| providers.value(chosen));
    [amount].into_iter().chain(providers).collect()
}

/// Returns the price of the amount that was typed.
fn counter(terms: &Terms, fields: &Form) -> Counter {
    let Some(amount) = fields.find("amount") else {
        let text = "Type an amount to see VAT and bonus.";
        return Counter::with_note(Tone::Plain, text.to_owned());
    };
    let given = TopUpFields {
        amount: Some(amount.to_owned()),
        ..TopUpFields::default()
    };
    match TopUpRequest::read(&given, terms) {
        Ok(request) => Counter {
            figures: figures(&request.price),
            notes: further_bonus(terms, &request.price).into_iter().collect(),
            prepared: None,
            networks: Vec::new(),
        },
        Err(refusal) => Counter::with_note(Tone::Bad, sentence(&refusal.to_string())),
    }
}

fn figures(price: &Priced) -> Vec<Figure> {
    let rate = format!("{} %", price.vat_rate);
    vec![
        Figure::new("To pay", naira(price.amount + price.vat)),
        Figure::new("VAT", naira(price.vat)).note(Tone::Plain, rate),
        Figure::new("Credit", naira(price.amount)),
        Figure::new("Bonus", naira(price.bonus)),
    ]
}

/// Returns the note on the next bonus that a larger amount would have.
fn further_bonus(terms: &Terms, price: &Priced) -> Option<(Tone, String)> {
    let larger = terms.bonuses.iter().filter(|one| one.from > price.amount);
    let next = larger.min_by_key(|one| one.from)?;
    let text = format!(
        "From {} on, {} % are added as SMS bonus.",
        naira(next.from),
        next.percent
    );
    Some((Tone::Plain, text))
}

fn facts(visitor: &Visitor, offer: &PaymentTerms, request: &TopUpRequest) -> Vec<(String, String)> {
    let price = &request.price;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("Credit", naira(price.amount)),
        fact(
            "VAT",
            format!("{} ({} %)", naira(price.vat), price.vat_rate),
        ),
        fact("To pay", naira(price.amount + price.vat)),
    ];
    if price.bonus.is_positive() {
        facts.push(fact("Bonus", naira(price.bonus)));
    }
    let default = offer.providers.first().map(|(name, _)| *name);
    let name = match visitor.environment() {
        Environment::Live => request.provider.as_deref().or(default),
        Environment::Sandbox => Some("the sandbox, without money"),
    };
    facts.extend(name.map(|name| fact("Pay with", provider(name))));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::payment::{Bonus, Percent};
    use domain::{Component, Money};

    fn terms() -> Terms {
        Terms {
            vat: Percent::from_hundredths(750),
            minimum: Money::from_naira(500),
            component: Component::UniversalWallet,
            bonuses: vec![Bonus {
                from: Money::from_naira(100_000),
                percent: Percent::from_hundredths(500),
            }],
            expires_ms: 86_400_000,
        }
    }

    fn typed(amount: &str) -> Counter {
        counter(&terms(), &Form::of([("amount", amount.to_owned())]))
    }

    #[test]
    fn the_price_has_vat_and_bonus_and_names_the_next_bonus() {
        let values = |counter: &Counter| -> Vec<String> {
            let figures = counter.figures.iter();
            figures.map(|figure| figure.value.clone()).collect()
        };
        let small = typed("1000");
        assert_eq!(
            values(&small),
            ["₦1,075.00", "₦75.00", "₦1,000.00", "₦0.00"]
        );
        assert!(small.notes[0].1.contains("From ₦100,000.00 on, 5 %"));
        let large = typed("100000.00");
        assert_eq!(large.figures[3].value, "₦5,000.00");
        assert!(large.notes.is_empty(), "{:?}", large.notes);
    }

    #[test]
    fn an_amount_that_cannot_be_paid_has_its_reason() {
        for (amount, part) in [
            ("", "Type an amount"),
            ("499.99", "at least 500.00"),
            ("1,000", "amount in naira"),
        ] {
            let counter = typed(amount);
            assert!(counter.figures.is_empty(), "{amount}");
            assert!(counter.notes[0].1.contains(part), "{:?}", counter.notes);
        }
    }
}
