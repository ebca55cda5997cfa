//! The calls, answers and webhooks of providers, as their documentation shows them.

use super::*;
use crate::money::Money;
use crate::payment::provided::{Payment, PaymentStatus, Received};

const SHA512_OF_PAYSTACK: &str = "837c81e83d5a8de9758377fb1ac98b364aa9e858de6a117aa32673dbc9fd9aff\
     193938bd2973d775bf365632872361a77a2d4b7d4d0032ff8173b7a88b8d266b";
const SHA512_OF_MONNIFY: &str = "490fcfbb79d06b016c90e8adf544240538d8dcd0686c09984f753520a76b5003\
     66c169688edb3bc3965934143b2a5ff7d11d1412fc82ce946272400dbb732a7c";
const SHA256_OF_FLUTTERWAVE: &str = "F/X9K+8y3hhaFq89KVVcAGiyxAvtRgUcCq7cL2j+v0o=";

const PAYSTACK_HOOK: &str = r#"{"event":"charge.success","data":{"id":4099260516,"status":"success","reference":"ogene-1","amount":107500,"currency":"NGN"}}"#;
const MONNIFY_HOOK: &str = r#"{"eventType":"SUCCESSFUL_TRANSACTION","eventData":{"paymentReference":"ogene-1","transactionReference":"MNFY|1","amountPaid":1075.00,"paymentStatus":"PAID","currency":"NGN"}}"#;
const FLUTTERWAVE_HOOK: &str = r#"{"type":"charge.completed","data":{"id":"chg_1","amount":1075,"currency":"NGN","status":"succeeded","reference":"ogene-1"}}"#;

fn paystack() -> Paystack {
    Paystack {
        secret_key: "sk_test_1".to_owned(),
    }
}

fn flutterwave(version: FlutterwaveVersion) -> Flutterwave {
    Flutterwave {
        secret_key: "FLWSECK-1".to_owned(),
        secret_hash: "hash-1".to_owned(),
        version,
    }
}

fn monnify() -> Monnify {
    Monnify {
        api_key: "MK_TEST_1".to_owned(),
        secret_key: "sk_test_1".to_owned(),
        contract_code: "4934121686".to_owned(),
    }
}

/// Each provider with a signed webhook, and the header of its signature.
fn hooks() -> [(Box<dyn Provider>, &'static str, &'static str, &'static str); 4] {
    let v3 = Box::new(flutterwave(FlutterwaveVersion::V3));
    let v4 = Box::new(flutterwave(FlutterwaveVersion::V4));
    [
        (
            Box::new(paystack()),
            PAYSTACK_HOOK,
            "x-paystack-signature",
            SHA512_OF_PAYSTACK,
        ),
        (v3, FLUTTERWAVE_HOOK, "verif-hash", "hash-1"),
        (
            v4,
            FLUTTERWAVE_HOOK,
            "flutterwave-signature",
            SHA256_OF_FLUTTERWAVE,
        ),
        (
            Box::new(monnify()),
            MONNIFY_HOOK,
            "monnify-signature",
            SHA512_OF_MONNIFY,
        ),
    ]
}

fn ok(body: &str) -> ApiAnswer<'_> {
    ApiAnswer {
        status: 200,
        body: body.as_bytes(),
    }
}

#[test]
fn a_webhook_is_trusted_by_its_signature_alone() {
    for (provider, body, header, signature) in hooks() {
        let signed = |name: &str, value: &'static str, body: &str| {
            let headers = |asked: &str| (asked == name).then_some(value);
            provider.is_signed(&headers, body.as_bytes())
        };
        assert!(signed(header, signature, body), "{provider:?}");
        assert!(!signed("x-signature", signature, body), "{provider:?}");
        for wrong in ["", "0", "hash-2"] {
            assert!(!signed(header, wrong, body), "{provider:?}");
        }
        if header != "verif-hash" {
            let other = body.replace("NGN", "USD");
            assert!(!signed(header, signature, &other), "{provider:?}");
        }
        let named = provider.hook_reference(body.as_bytes());
        assert_eq!(named.as_deref(), Some("ogene-1"), "{provider:?}");
    }
}

#[test]
fn a_webhook_about_something_else_names_no_reference() {
    for (provider, ..) in hooks() {
        for body in ["", "[]", "{}", r#"{"data":{"reference":7}}"#] {
            assert_eq!(provider.hook_reference(body.as_bytes()), None, "{body}");
        }
    }
    let spaced = br#"{"data":{"reference":"a b"}}"#;
    assert_eq!(paystack().hook_reference(spaced), None);
}

#[test]
fn a_checkout_names_amount_reference_and_return_page() {
    let checkout = Checkout {
        reference: "ogene-1",
        total: Money::from_naira(1_075),
        email: "ada@example.ng",
        name: "Ada",
        return_url: "https://sms.example.ng/payments/return/1",
    };
    let body =
        |call: ApiCall| -> serde_json::Value { serde_json::from_str(&call.body.unwrap()).unwrap() };
    let created = body(paystack().create(&checkout, ""));
    assert_eq!(created["amount"], "107500", "in kobo");
    assert_eq!(created["callback_url"], checkout.return_url);
    let created = body(flutterwave(FlutterwaveVersion::V3).create(&checkout, ""));
    assert_eq!(created["amount"], "1075.00");
    assert_eq!(created["tx_ref"], "ogene-1");
    let call = monnify().create(&checkout, "token-1");
    assert_eq!(call.authorization, "Bearer token-1");
    let created = body(call);
    assert_eq!(created["contractCode"], "4934121686");
    assert_eq!(created["paymentReference"], "ogene-1");
}

#[test]
fn the_page_of_a_checkout_is_read() {
    let paystack_answer = r#"{"status":true,"message":"Authorization URL created","data":{"authorization_url":"https://checkout.paystack.com/0","access_code":"0","reference":"ogene-1"}}"#;
    let found = paystack().checkout_url(ok(paystack_answer));
    assert_eq!(found.as_deref(), Ok("https://checkout.paystack.com/0"));
    let flutterwave_answer = r#"{"status":"success","message":"Hosted Link","data":{"link":"https://checkout.flutterwave.com/v3/hosted/pay/0"}}"#;
    let found = flutterwave(FlutterwaveVersion::V3).checkout_url(ok(flutterwave_answer));
    assert!(found.is_ok_and(|url| url.ends_with("/pay/0")));
    let monnify_answer = r#"{"requestSuccessful":true,"responseMessage":"success","responseBody":{"transactionReference":"MNFY|1","paymentReference":"ogene-1","checkoutUrl":"https://sdk.monnify.com/checkout/1"}}"#;
    let found = monnify().checkout_url(ok(monnify_answer));
    assert!(found.is_ok_and(|url| url.ends_with("/checkout/1")));
    for (provider, ..) in hooks() {
        let refused = provider.checkout_url(ok(r#"{"status":false,"message":"Invalid key"}"#));
        assert_eq!(refused, Err(Unread), "{provider:?}");
    }
}

#[test]
fn monnify_logs_in_before_each_call() {
    let login = monnify().login().unwrap();
    assert_eq!(login.authorization, "Basic TUtfVEVTVF8xOnNrX3Rlc3RfMQ==");
    let answer =
        r#"{"requestSuccessful":true,"responseBody":{"accessToken":"ey.1","expiresIn":3599}}"#;
    assert_eq!(monnify().token(ok(answer)).as_deref(), Ok("ey.1"));
    assert_eq!(paystack().login(), None);
    assert_eq!(paystack().token(ok(answer)), Err(Unread));
}

/// Checks the payment that a provider finds.
fn finds(provider: &dyn Provider, body: &str, status: PaymentStatus, amount: &str) {
    let received = Received {
        amount: amount.parse().unwrap(),
        currency: "NGN".to_owned(),
        payment_id: "4099260516".to_owned(),
    };
    let payment = Payment {
        reference: "ogene-1".to_owned(),
        status,
        received,
    };
    assert_eq!(provider.payment(ok(body)), Ok(Some(payment)), "{body}");
}

#[test]
fn a_found_payment_has_status_amount_and_currency() {
    use PaymentStatus::{Failed, Paid, Pending};
    for (word, amount, status, found) in [
        ("success", "107550", Paid, "1075.50"),
        ("failed", "107500", Failed, "1075.00"),
        ("abandoned", "1", Pending, "0.01"),
    ] {
        let body = format!(
            r#"{{"status":true,"message":"Verification successful","data":{{"id":4099260516,"domain":"test","status":"{word}","reference":"ogene-1","amount":{amount},"currency":"NGN"}}}}"#
        );
        finds(&paystack(), &body, status, found);
    }
    for (word, amount, status, found) in [
        ("successful", "1075.5", Paid, "1075.50"),
        ("failed", "1075", Failed, "1075.00"),
        ("pending", "1075", Pending, "1075.00"),
    ] {
        let body = format!(
            r#"{{"status":"success","data":{{"id":4099260516,"tx_ref":"ogene-1","amount":{amount},"currency":"NGN","status":"{word}"}}}}"#
        );
        finds(&flutterwave(FlutterwaveVersion::V3), &body, status, found);
    }
    for (word, amount, status, found) in [
        ("PAID", "\"1075.00\"", Paid, "1075.00"),
        ("PARTIALLY_PAID", "75", Paid, "75.00"),
        ("PENDING", "null", Pending, "0.00"),
        ("EXPIRED", "0", Failed, "0.00"),
    ] {
        let body = format!(
            r#"{{"requestSuccessful":true,"responseBody":{{"transactionReference":"4099260516","paymentReference":"ogene-1","amountPaid":{amount},"paymentStatus":"{word}","currency":"NGN"}}}}"#
        );
        finds(&monnify(), &body, status, found);
    }
}

#[test]
fn an_answer_that_is_not_understood_decides_nothing() {
    for (provider, ..) in hooks() {
        for body in ["", "<html>", r#"{"status":true,"data":{}}"#] {
            assert_eq!(provider.payment(ok(body)), Err(Unread), "{provider:?}");
        }
        for (status, read) in [(404, Ok(None)), (400, Ok(None)), (502, Err(Unread))] {
            let answer = ApiAnswer {
                status,
                body: b"{}",
            };
            assert_eq!(provider.payment(answer), read, "{provider:?} {status}");
        }
    }
    let float =
        r#"{"data":{"id":1,"status":"success","reference":"r","amount":1.5,"currency":"NGN"}}"#;
    assert_eq!(paystack().payment(ok(float)), Err(Unread), "kobo are whole");
}

#[test]
fn a_reference_is_one_part_of_a_path() {
    let call = paystack().find("../a?b", "");
    assert_eq!(call.path, "/transaction/verify/..%2Fa%3Fb");
    let call = monnify().find("MNFY|1&x=2", "t");
    assert!(call.path.ends_with("?paymentReference=MNFY%7C1%26x%3D2"));
    let shown = format!("{:?} {:?}", paystack(), paystack().find("r", ""));
    assert!(!shown.contains("sk_test"), "{shown}");
}
