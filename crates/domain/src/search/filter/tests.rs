//! Filters as query strings have them.

use super::*;

fn fields(text: &str) -> FilterFields {
    let mut fields = FilterFields::default();
    for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
        let slot = match name {
            "since" => &mut fields.since,
            "until" => &mut fields.until,
            "recipient" => &mut fields.recipient,
            "sender" => &mut fields.sender,
            "gateway" => &mut fields.gateway,
            "state" => &mut fields.state,
            "delivery_status" => &mut fields.delivery_status,
            "customer_reference" => &mut fields.customer_reference,
            "kind" => &mut fields.kind,
            "message_id" => &mut fields.message_id,
            "by" => &mut fields.by,
            _ => panic!("{name}"),
        };
        *slot = Some(value.to_owned());
    }
    fields
}

fn messages(text: &str) -> Result<MessageFilter, String> {
    let filter = MessageFilter::read(&fields(text), Environment::Live);
    filter.map_err(|refusal| refusal.to_string())
}

#[test]
fn every_field_of_a_search_is_read_in_its_forms() {
    let text = "since=2027-01-31 18:00:00&until=2027-01-31T18:00:01Z&recipient=0803 123 4567&sender= OGENE \
        &gateway=2&state=paused&delivery_status=sent awaiting status&customer_reference=order 7";
    let expected = MessageFilter {
        since_ms: Some(1_801_414_800_000),
        until_ms: Some(1_801_418_401_000),
        recipient: Some(Recipient::from_digits(2_348_031_234_567)),
        sender: Some("ogene".to_owned()),
        gateway: Some(Gateway::DirectCorporate),
        state: Some(MessageState::Paused),
        delivery_status: Some(StatusFilter::Pending),
        customer_reference: Some("order 7".to_owned()),
    };
    assert_eq!(messages(text), Ok(expected));
    assert_eq!(
        messages("since= &state=&recipient= "),
        Ok(MessageFilter::default())
    );
    let abroad = messages("recipient=+44 7911 123456").unwrap().recipient;
    assert_eq!(abroad, Some(Recipient::from_digits(447_911_123_456)));
}

#[test]
fn a_field_of_another_form_is_refused_with_its_forms() {
    let table = [
        ("since=yesterday", "`since` must be a time, as RFC 3339"),
        ("until=2027-01-31", "YYYY-MM-DD HH:MM:SS in Africa/Lagos."),
        ("recipient=12", "`recipient` must be a number"),
        (
            "sender=twelve chars",
            "`sender` must be a sender ID of at most 11",
        ),
        ("gateway=9", "`gateway` must be one of: direct-refund, "),
        (
            "state=done",
            "`state` must be one of: scheduled, sending, paused, completed, cancelled.",
        ),
        (
            "delivery_status=ok",
            "`delivery_status` must be one of: sent awaiting status, delivrd",
        ),
        (
            "since=2027-01-31 18:00:01&until=2027-01-31 18:00:00",
            "`since` must not be after `until`.",
        ),
    ];
    for (text, words) in table {
        let refusal = messages(text).unwrap_err();
        assert!(refusal.contains(words), "{text}: {refusal}");
    }
    let long = format!("customer_reference={}", "r".repeat(256));
    assert_eq!(
        messages(&long).unwrap_err(),
        "`customer_reference` must be at most 255 characters."
    );
}

#[test]
fn the_sandbox_finds_its_steering_numbers() {
    let fields = fields("recipient=2348000000001");
    assert!(MessageFilter::read(&fields, Environment::Live).is_err());
    let filter = MessageFilter::read(&fields, Environment::Sandbox).unwrap();
    assert_eq!(
        filter.recipient,
        Some(Recipient::from_digits(2_348_000_000_001))
    );
}

#[test]
fn wallet_and_usage_have_their_own_fields() {
    let id = MessageId::new(1_795_000_000_000, [7; 10]);
    let wallet = WalletFilter::read(&fields(&format!("kind=refund&message_id={id}"))).unwrap();
    assert_eq!(
        (wallet.kind, wallet.message_id),
        (Some(EntryKind::Refund), Some(id))
    );
    for text in ["kind=gift", "message_id=7", "since=x"] {
        assert!(WalletFilter::read(&fields(text)).is_err(), "{text}");
    }
    let usage = |text| UsageFilter::read(&fields(text)).map(|usage| usage.by).ok();
    assert_eq!(usage(""), Some(UsageBy::Day));
    assert_eq!(usage("by=network"), Some(UsageBy::Network));
    assert_eq!(usage("by=month"), None);
}

#[test]
fn every_status_of_a_recipient_has_one_filter() {
    for &status in DeliveryStatus::ALL {
        let filters = StatusFilter::ALL
            .iter()
            .filter(|filter| filter.matches(status));
        assert_eq!(filters.count(), 1, "{status:?}");
    }
}
