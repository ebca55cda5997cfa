//! Payments of all accounts in the console of operators.

use super::{leads_to, member};
use crate::kit::http::Answer;
use crate::kit::provider::{Kind, Provider};
use crate::kit::{Ogene, Setup};
use crate::top_ups::{TOP_UPS, created};
use domain::user::role::Role;

const PATH: &str = "/operator/top-ups";

pub(super) fn has(page: &Answer, parts: &[&str]) {
    assert_eq!(page.status, 200, "{}", page.text());
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

pub(super) async fn start() -> (Provider, Ogene) {
    let provider = Provider::start(Kind::Paystack).await;
    let setup = provider.of(Setup::new());
    let setup = setup
        .set("http.public_url", r#""http://localhost""#)
        .set("payments.sweep", r#""1h""#)
        .set("payments.bonus", r#"[{ from = "1000.00", percent = "5" }]"#);
    (provider, setup.start().await)
}

/// Makes a top-up of 1,000 naira, and pays so many kobo for it. Returns the address of its page.
pub(super) async fn paid(provider: &Provider, ogene: &Ogene, kobo: i64) -> String {
    let top_up = created(ogene, TOP_UPS).await;
    let text = |name: &str| top_up[name].as_str().expect("a text").to_owned();
    provider.pay(&text("reference"), kobo);
    let hook = provider.hook(&text("reference"));
    assert_eq!(ogene.ask(&hook).await.status, 200);
    format!("{PATH}/{}", text("top_up_id"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_accepts_and_rejects_mismatches_by_name() {
    let (provider, ogene) = start().await;
    let (mut operator, user) = member(&ogene, None, Role::Operator).await;
    has(&operator.get(PATH).await, &["No mismatches"]);
    let short = paid(&provider, &ogene, 107_499).await;
    let other = paid(&provider, &ogene, 100).await;
    let whole = paid(&provider, &ogene, 107_500).await;
    let list = operator.get(PATH).await;
    has(&list, &[&short, &other, "₦1,075.00", "₦1,074.99", "₦1.00"]);
    assert!(!list.text().contains(&whole), "mismatches alone come first");
    has(
        &operator.get(&format!("{PATH}?state=paid")).await,
        &[&whole],
    );
    has(
        &operator.get(&format!("{PATH}?state=any")).await,
        &[&whole, &short],
    );
    assert_eq!(operator.get(&format!("{PATH}?state=odd")).await.status, 404);

    let page = operator.get(&short).await;
    has(
        &page,
        &["another amount was paid", "value=\"1000.00\"", "Reject"],
    );
    let accept = format!("{short}/accept");
    for (amount, reason) in [("a", "Give the amount"), ("0", "above 0")] {
        leads_to(
            &operator.send(&short, &accept, &[("amount", amount)]).await,
            &short,
        );
        has(&operator.get(&short).await, &[reason, "Mismatch"]);
    }
    let fields = [("amount", "999.99")];
    leads_to(&operator.send(&short, &accept, &fields).await, &short);
    let page = operator.get(&short).await;
    has(&page, &["₦999.99 was credited, with receipt 2.", "Paid"]);
    assert!(!page.text().contains("/accept\""), "{}", page.text());
    leads_to(&operator.send(&short, &accept, &fields).await, &short);
    has(
        &operator.get(&short).await,
        &["only a mismatch can be decided"],
    );

    let reject = format!("{other}/reject");
    leads_to(&operator.send(&other, &reject, &[]).await, &other);
    let page = operator.get(&other).await;
    has(&page, &["was rejected", "Failed", "Accept and credit"]);
    has(&operator.get(PATH).await, &["No mismatches"]);
    let audit = operator.get("/operator/audit").await;
    has(
        &audit,
        &["top-up.accept", "top-up.reject", &user.to_string()],
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_of_a_foreign_reference_needs_an_account() {
    let (provider, ogene) = start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    provider.pay("T-foreign-1", 90_000);
    let hook = provider.hook("T-foreign-1");
    assert_eq!(ogene.ask(&hook).await.status, 200);
    let list = operator.get(PATH).await;
    has(&list, &["₦900.00", "Unknown"]);
    let before = list.text().split("\">₦900.00").next().expect("a link");
    let page = before
        .rsplit("href=\"")
        .next()
        .expect("an address")
        .to_owned();
    has(
        &operator.get(&page).await,
        &["the reference is not ours", "Account id"],
    );
    let accept = format!("{page}/accept");
    let account = ogene.shop.id.to_string();
    for (fields, reason) in [
        (vec![("amount", "900")], "name the account to credit"),
        (
            vec![("account", "x"), ("amount", "900")],
            "id of the account",
        ),
        (vec![("account", &*account)], "give the amount"),
    ] {
        leads_to(&operator.send(&page, &accept, &fields).await, &page);
        has(&operator.get(&page).await, &[reason]);
    }
    let fields = [("account", &*account), ("amount", "900")];
    leads_to(&operator.send(&page, &accept, &fields).await, &page);
    has(&operator.get(&page).await, &["₦900.00 was credited"]);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_payments_show_no_key() {
    let (_provider, ogene) = start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let page = operator.get(&format!("{PATH}/settings")).await;
    let webhook = "http://localhost/hooks/payments/paystack";
    has(
        &page,
        &["Paystack (default)", webhook, "7.5 %", "Every 1 h", "5 %"],
    );
    assert!(!page.text().contains("s3cret"), "{}", page.text());
    ogene.end().await;

    let ogene = Ogene::start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let page = operator.get(&format!("{PATH}/settings")).await;
    has(&page, &["No providers", "[payments.paystack]"]);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_counts_the_mismatches_that_wait() {
    let (provider, ogene) = start().await;
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let figure = |mismatches: u32| {
        format!("Mismatches</span> <span class=\"figure-value\">{mismatches}</span>")
    };
    has(&operator.get("/operator/").await, &[&figure(0), PATH]);
    let short = paid(&provider, &ogene, 107_499).await;
    paid(&provider, &ogene, 100).await;
    paid(&provider, &ogene, 107_500).await;
    has(&operator.get("/operator/").await, &[&figure(2)]);
    let reject = format!("{short}/reject");
    leads_to(&operator.send(&short, &reject, &[]).await, &short);
    has(&operator.get("/operator/").await, &[&figure(1)]);
    ogene.end().await;
}
