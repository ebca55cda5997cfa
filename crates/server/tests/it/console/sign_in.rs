//! Sign-in by password and second factor, and what slows guesses.

use super::{Browser, PASSWORD, leads_to, member, with_password};
use crate::kit::Ogene;
use domain::user::role::Role;
use domain::user::totp;

#[tokio::test(flavor = "multi_thread")]
async fn a_user_signs_in_and_out() {
    let ogene = Ogene::start().await;
    with_password(&ogene, "ada@example.ng", Some(ogene.shop.id), Role::Owner).await;
    let mut browser = Browser::new(&ogene);
    leads_to(
        &browser.get("/console/team").await,
        "/sign-in?next=%2Fconsole%2Fteam",
    );
    for (email, password) in [
        ("ada@example.ng", "wrong horse battery"),
        ("nobody@example.ng", PASSWORD),
        ("", ""),
    ] {
        let refused = browser.sign_in(email, password).await;
        assert_eq!(refused.status, 422);
        assert!(
            refused
                .text()
                .contains("The e-mail address or the password is wrong.")
        );
        assert_eq!(browser.session(), "");
    }
    leads_to(
        &browser.sign_in(" ADA@example.ng ", PASSWORD).await,
        "/console/",
    );
    let page = browser.get("/console/").await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Ada") && page.text().contains("₦1,000"));
    leads_to(&browser.get("/sign-in").await, "/console/");
    let used = browser.session();
    leads_to(
        &browser.send("/console/", "/sign-out", &[]).await,
        "/sign-in",
    );
    // The secret is good for nothing then, even if somebody kept it.
    browser.cookies.insert("ogene".to_owned(), used);
    leads_to(
        &browser.get("/console/").await,
        "/sign-in?next=%2Fconsole%2F",
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_planted_is_never_signed_in() {
    let ogene = Ogene::start().await;
    with_password(&ogene, "ada@example.ng", Some(ogene.shop.id), Role::Owner).await;
    let (attacker, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    for planted in [attacker.session(), "A".repeat(43)] {
        let mut victim = Browser::new(&ogene);
        victim.cookies.insert("ogene".to_owned(), planted.clone());
        let page = victim.get("/sign-in").await;
        // The victim sees the form, or the attacker's own pages.
        if page.status == 200 {
            leads_to(
                &victim.sign_in("ada@example.ng", PASSWORD).await,
                "/console/",
            );
            assert_ne!(victim.session(), planted);
        }
        let mut thief = Browser::new(&ogene);
        thief.cookies.insert("ogene".to_owned(), planted);
        assert!(
            !thief
                .get("/console/")
                .await
                .text()
                .contains("<span>Ada</span>")
        );
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_are_slowed_by_user_and_by_address() {
    let ogene = Ogene::start().await;
    with_password(&ogene, "ada@example.ng", Some(ogene.shop.id), Role::Owner).await;
    let mut browser = Browser::new(&ogene);
    for _ in 0..12 {
        // Each delay is over, so each guess is counted.
        ogene.clock.set(ogene.clock.now_ms() + 16 * 60_000);
        assert_eq!(browser.sign_in("ada@example.ng", "wrong").await.status, 422);
    }
    // The right password waits as well, or it would be told from wrong ones.
    let slowed = browser.sign_in("ada@example.ng", PASSWORD).await;
    assert_eq!(slowed.status, 429);
    assert!(slowed.text().contains("Try again in"));
    // Another user of the same address is not concerned yet. Many guesses slow the address.
    let mut last = 422;
    for number in 0..40 {
        let email = format!("nobody{number}@example.ng");
        last = browser.sign_in(&email, "wrong").await.status;
        if last == 429 {
            assert!(number >= 7, "{number}");
            break;
        }
    }
    assert_eq!(last, 429);
    ogene.clock.set(ogene.clock.now_ms() + 16 * 60_000);
    leads_to(
        &browser.sign_in("ada@example.ng", PASSWORD).await,
        "/console/",
    );
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_factor_is_asked_for_and_good_once() {
    let ogene = Ogene::start().await;
    let user = with_password(&ogene, "ada@example.ng", Some(ogene.shop.id), Role::Owner).await;
    let mut browser = Browser::new(&ogene);
    browser.sign_in("ada@example.ng", PASSWORD).await;
    let before = browser.session();
    let page = "/console/profile/second-factor";
    assert_eq!(
        browser.send(page, page, &[("code", "000000")]).await.status,
        422
    );
    let store = ogene.store().await;
    let secret = store
        .users()
        .find(user)
        .await
        .expect("read")
        .expect("a user")
        .totp_secret;
    let secret = secret.expect("a secret");
    store.close().await;
    let code = || totp::code_at(&secret, ogene.clock.now_ms());
    let codes = browser.send(page, page, &[("code", &code())]).await;
    assert_eq!(codes.status, 200);
    let recovery = codes.text().split("id=\"codes\">").nth(1).expect("codes");
    let recovery = recovery.lines().next().expect("a code").to_owned();
    // The rights have changed, and so has the secret of the session.
    assert_ne!(browser.session(), before);
    assert_eq!(browser.get("/console/").await.status, 200);

    let mut other = Browser::new(&ogene);
    leads_to(
        &other.sign_in("ada@example.ng", PASSWORD).await,
        "/sign-in/code?next=",
    );
    let half = other.session();
    assert_eq!(other.get("/console/").await.status, 303);
    other.cookies.insert("ogene".to_owned(), half.clone());
    // The code of the set-up is used up.
    let code_page = "/sign-in/code";
    assert_eq!(
        other
            .send(code_page, code_page, &[("code", &code())])
            .await
            .status,
        422
    );
    ogene.clock.set(ogene.clock.now_ms() + 30_000);
    leads_to(
        &other.send(code_page, code_page, &[("code", &code())]).await,
        "/console/",
    );
    assert_ne!(other.session(), half);
    for expected in [303, 422] {
        let mut third = Browser::new(&ogene);
        third.sign_in("ada@example.ng", PASSWORD).await;
        let given = third
            .send(code_page, code_page, &[("code", &recovery)])
            .await;
        assert_eq!(given.status, expected);
    }
    ogene.end().await;
}
