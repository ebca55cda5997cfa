//! The charged pages are the submitted pages: texts, pages, and the fields of a submit
//! (docs/spec/sending.md, sections 2 and 3).

use crate::kit::{AIRTEL, MTN, Ogene, SENDER, to, wire, with};
use serde_json::json;
use smpp::esm_class;

/// Sends a text to a fresh number, and gives what its handset shows, the pages on the wire and the answer.
async fn through(
    ogene: &Ogene,
    last: usize,
    body: &str,
    unicode: bool,
) -> (String, usize, serde_json::Value) {
    let number = format!("23480312{last:05}");
    let data = ogene
        .sent(with(to(&number, body), json!({"unicode": unicode})))
        .await;
    let id = data["message_id"].as_str().expect("an id");
    assert_eq!(ogene.outcome(id).await, ["delivrd"]);
    let received = ogene.smsc().received();
    (
        wire::text(&received, &number),
        wire::count(&received, &number),
        data,
    )
}

#[tokio::test]
async fn plain_text_arrives_made_plain_and_its_pages_are_those_billed() {
    let ogene = Ogene::start().await;
    let x = |count| "x".repeat(count);
    let table = [
        ("Hello".to_owned(), "Hello".to_owned(), 1),
        (
            "‘Quoted’ – “twice” — and…".to_owned(),
            "'Quoted' - \"twice\" - and...".to_owned(),
            1,
        ),
        (
            "Ẹ kú ọjọ́ ìbí, ṣé dáadáa? ₦500".to_owned(),
            "E ku ojo ibi, se daadaa? N500".to_owned(),
            1,
        ),
        (
            "Ɓala ƙofa ɗaki ụlọ ịhụ ñ é ü".to_owned(),
            "Bala kofa daki ulo ihu n e u".to_owned(),
            1,
        ),
        ("Sale 🎉 now 😀!".to_owned(), "Sale now !".to_owned(), 1),
        (
            "^{}\\[~]|€ £¥§¿¡¤ ΔΩ".to_owned(),
            "^{}\\[~]|€ £¥§¿¡¤ ΔΩ".to_owned(),
            1,
        ),
        (" kept ".to_owned(), " kept ".to_owned(), 1),
        ("a\u{A0}b\u{200B}c".to_owned(), "a bc".to_owned(), 1),
        ("Hi 你好 سلام there".to_owned(), "Hi there".to_owned(), 1),
        (x(160), x(160), 1),
        (x(161), x(161), 2),
        (x(306), x(306), 2),
        (x(307), x(307), 3),
        (x(459), x(459), 3),
        (x(460), x(460), 4),
        ("€".repeat(80), "€".repeat(80), 1),
        ("€".repeat(81), "€".repeat(81), 2),
        (
            format!("{}€{}", x(152), x(100)),
            format!("{}€{}", x(152), x(100)),
            2,
        ),
    ];
    for (number, (body, shown, pages)) in table.into_iter().enumerate() {
        let (text, count, data) = through(&ogene, number, &body, false).await;
        assert_eq!(text, shown, "{body}");
        assert_eq!(count, pages, "{body}");
        assert_eq!(
            (&data["page_count"], &data["cost"]),
            (
                &json!(pages),
                &json!(6.0 * f64::from(u8::try_from(pages).expect("few")))
            )
        );
        assert_eq!(data["unicode"], false);
    }
    ogene.end().await;
}

#[tokio::test]
async fn unicode_text_arrives_as_written_and_an_emoji_counts_two() {
    let ogene = Ogene::start().await;
    let table = [
        ("Ẹ kú àárọ̀ “dáadáa” 你好 😀".to_owned(), 1),
        ("ẹ".repeat(70), 1),
        ("ẹ".repeat(71), 2),
        ("ẹ".repeat(134), 2),
        ("ẹ".repeat(135), 3),
        ("😀".repeat(35), 1),
        ("😀".repeat(36), 2),
        ("😀".repeat(66), 2),
        ("😀".repeat(68), 3),
        (format!("{}😀{}", "ẹ".repeat(66), "ẹ".repeat(66)), 2),
    ];
    for (number, (body, pages)) in table.into_iter().enumerate() {
        let (text, count, data) = through(&ogene, number, &body, true).await;
        assert_eq!(text, body);
        assert_eq!(
            (count, &data["page_count"]),
            (pages, &json!(pages)),
            "{body}"
        );
        assert_eq!(data["unicode"], true);
        assert_eq!(
            data["cost"],
            json!(12.0 * f64::from(u8::try_from(pages).expect("few")))
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_pages_of_a_text_are_joined_by_one_reference() {
    let ogene = Ogene::start().await;
    let id = ogene
        .sent_id(to(&format!("{MTN},{AIRTEL}"), &"abc".repeat(120)))
        .await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd", "delivrd"]);
    let received = ogene.smsc().received();
    for number in [MTN, AIRTEL] {
        let of_it: Vec<_> = received
            .iter()
            .filter(|one| one.submit.destination.digits == number)
            .collect();
        assert_eq!(of_it.len(), 3);
        let reference = of_it[0].submit.short_message[3];
        for message in of_it {
            let octets = &message.submit.short_message;
            assert_eq!(
                (&octets[..3], octets[3], octets[4]),
                (&[5, 0, 3][..], reference, 3)
            );
            assert_eq!(message.submit.esm_class, esm_class::UDHI);
            assert!(octets.len() <= 159, "6 octets of header and 153 of text");
        }
        assert_eq!(wire::text(&received, number), "abc".repeat(120));
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_submit_has_addresses_validity_and_a_receipt_request() {
    let ogene = Ogene::start().await;
    // A moment of the validity may have passed before the submit.
    let table = [
        ("direct-refund", "000001235900000R"..="000002000000000R", 0),
        (
            "direct-corporate",
            "000001235900000R"..="000002000000000R",
            0,
        ),
        ("otp", "000000000900000R"..="000000001000000R", 1),
    ];
    for (number, (gateway, validity, priority)) in table.into_iter().enumerate() {
        ogene
            .sent(with(
                to(MTN, &format!("Text {number}")),
                json!({"gateway": gateway}),
            ))
            .await;
        let submit = ogene
            .received(number + 1)
            .await
            .pop()
            .expect("a message")
            .submit;
        assert_eq!(
            (
                submit.source.ton,
                submit.source.npi,
                submit.source.digits.as_str()
            ),
            (5, 0, SENDER)
        );
        assert_eq!(
            (
                submit.destination.ton,
                submit.destination.npi,
                submit.destination.digits.as_str()
            ),
            (1, 1, MTN)
        );
        assert_eq!(submit.registered_delivery & 0x03, 1);
        let asked = submit.validity_period.as_str();
        assert!(validity.contains(&asked), "{gateway}: {asked}");
        assert!(submit.priority >= priority, "{gateway}");
        assert_eq!(
            (
                submit.esm_class,
                submit.data_coding,
                submit.replace_if_present
            ),
            (0, 0, 0)
        );
        assert!(submit.schedule.is_empty());
    }
    ogene.end().await;
}
