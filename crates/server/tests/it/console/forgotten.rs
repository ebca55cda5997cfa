//! The reset of a forgotten password at the sign-in, over a real SMTP server.

use super::mail::with_mail;
use super::{Browser, PASSWORD, leads_to, member, with_password};
use crate::kit::http::Answer;
use crate::kit::{Ogene, operations, until};
use domain::user::UserStatus;
use domain::user::role::Role;
use testkit::SmtpServer;

const PAGE: &str = "/sign-in/forgotten";
const NEW_PASSWORD: &str = "staple battery horse";

async fn asked(ogene: &Ogene, email: &str) -> Answer {
    let fields = [("email", email)];
    Browser::new(ogene).send(PAGE, PAGE, &fields).await
}

/// Waits for so many mails. Returns the path of the link in the last one.
async fn mailed(smtp: &SmtpServer, count: usize) -> String {
    let mails = until("the mail is there", async || {
        Some(smtp.mails()).filter(|mails| mails.len() >= count)
    })
    .await;
    assert_eq!(mails.len(), count);
    let text = &mails[count - 1].text;
    let (_, link) = text.split_once("http://localhost/links/").expect("a link");
    format!("/links/{}", link.lines().next().expect("its line").trim())
}

/// A user who is disabled, and one who was invited and has no account yet.
async fn outsiders(ogene: &Ogene) {
    with_password(ogene, "shut@example.ng", None, Role::Operator).await;
    let store = ogene.store().await;
    let users = || operations(&store).users();
    users()
        .set_status("shut@example.ng", UserStatus::Disabled)
        .await
        .expect("disabled");
    users()
        .invite("guest@example.ng", Some(ogene.shop.id), Role::Viewer)
        .await
        .expect("invited");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_password_is_replaced_by_a_link_in_a_mail() {
    let smtp = SmtpServer::start();
    let ogene = with_mail(&smtp.address().to_string(), "off").start().await;
    with_password(&ogene, "ada@example.ng", Some(ogene.shop.id), Role::Owner).await;
    let mut before = Browser::new(&ogene);
    leads_to(
        &before.sign_in("ada@example.ng", PASSWORD).await,
        "/console/",
    );
    let page = Browser::new(&ogene).get("/sign-in").await;
    assert!(page.text().contains("href=\"/sign-in/forgotten\""));
    let answer = asked(&ogene, " ADA@example.ng ").await;
    assert_eq!(answer.status, 200);
    assert!(!answer.text().contains("/links/"), "{}", answer.text());
    let first = mailed(&smtp, 1).await;
    // The old password is good until the link is used, and a newer link replaces an older one.
    assert_eq!(before.get("/console/").await.status, 200);
    asked(&ogene, "ada@example.ng").await;
    let path = mailed(&smtp, 2).await;
    assert_eq!(Browser::new(&ogene).get(&first).await.status, 404);
    let fields = [("password", NEW_PASSWORD)];
    let mut browser = Browser::new(&ogene);
    leads_to(&browser.send(&path, &path, &fields).await, "/sign-in");
    assert_eq!(before.get("/console/").await.status, 303);
    assert_eq!(browser.get(&path).await.status, 422);
    assert_eq!(
        browser.sign_in("ada@example.ng", PASSWORD).await.status,
        422
    );
    leads_to(
        &browser.sign_in("ada@example.ng", NEW_PASSWORD).await,
        "/console/",
    );
    let (mut operator, _) = member(&ogene, None, Role::Operator).await;
    let audit = operator.get("/operator/audit").await;
    for part in ["user.reset", "sign-in", "user.set-password"] {
        assert!(audit.text().contains(part), "{part}: {}", audit.text());
    }
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_the_sign_in_is_good_for_30_minutes() {
    let smtp = SmtpServer::start();
    let ogene = with_mail(&smtp.address().to_string(), "off").start().await;
    with_password(&ogene, "ada@example.ng", None, Role::Operator).await;
    asked(&ogene, "ada@example.ng").await;
    let path = mailed(&smtp, 1).await;
    ogene.clock.set(ogene.clock.now_ms() + 29 * 60_000);
    assert_eq!(Browser::new(&ogene).get(&path).await.status, 200);
    ogene.clock.set(ogene.clock.now_ms() + 2 * 60_000);
    let late = Browser::new(&ogene).get(&path).await;
    assert!(late.status == 422 && late.text().contains("has expired"));
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_answers_the_same_for_every_address() {
    let smtp = SmtpServer::start();
    let ogene = with_mail(&smtp.address().to_string(), "off").start().await;
    with_password(&ogene, "ada@example.ng", None, Role::Operator).await;
    outsiders(&ogene).await;
    let mut answers = Vec::new();
    for name in ["nobody", "shut", "guest", "ada"] {
        let email = format!("{name}@example.ng");
        let answer = asked(&ogene, &email).await;
        answers.push((answer.status, answer.text().replace(&email, "EMAIL")));
    }
    assert_eq!(answers[0].0, 200);
    assert!(answers.iter().all(|one| *one == answers[0]), "{answers:?}");
    // Only the user who may sign in has a mail.
    mailed(&smtp, 1).await;
    let mails = smtp.mails();
    assert!(mails[0].to[0].contains("<ada@example.ng>"), "{mails:?}");
    // A server that does not take the mail changes nothing in the answer.
    with_password(&ogene, "ada@nowhere.ng", None, Role::Operator).await;
    assert_eq!(asked(&ogene, "ada@nowhere.ng").await.status, 200);
    for malformed in ["ada", "", "a@b@c"] {
        let refused = asked(&ogene, malformed).await;
        assert!(refused.status == 422 && refused.text().contains("not valid"));
    }
    ogene.end().await;
    assert_eq!(smtp.mails().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn resets_are_slowed_by_user_and_by_address() {
    let smtp = SmtpServer::start();
    let ogene = with_mail(&smtp.address().to_string(), "off").start().await;
    with_password(&ogene, "ada@example.ng", None, Role::Operator).await;
    for email in ["ada@example.ng", "nobody@example.ng"] {
        let mut last = 200;
        for number in 0..10 {
            last = asked(&ogene, email).await.status;
            if last == 429 {
                assert!(number >= 3, "{email} {number}");
                break;
            }
        }
        assert_eq!(last, 429, "{email}");
    }
    // Resets delay no sign-in.
    leads_to(
        &Browser::new(&ogene)
            .sign_in("ada@example.ng", PASSWORD)
            .await,
        "/operator/",
    );
    let mut last = 200;
    for number in 0..40 {
        last = asked(&ogene, &format!("nobody{number}@example.ng"))
            .await
            .status;
        if last == 429 {
            assert!(number >= 5, "{number}");
            break;
        }
    }
    assert_eq!(last, 429);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_mail_the_page_names_whom_to_ask() {
    let ogene = Ogene::start().await;
    with_password(&ogene, "ada@example.ng", None, Role::Operator).await;
    let mut browser = Browser::new(&ogene);
    let page = browser.get(PAGE).await;
    assert!(page.status == 200 && page.text().contains("ogene user reset"));
    // A form of an earlier time makes no link.
    let fields = [("email", "ada@example.ng")];
    let answer = browser.send("/sign-in", PAGE, &fields).await;
    assert!(answer.text().contains("ogene user reset"));
    let count = ogene
        .sql("select count(*) from one_time_links where purpose = 'reset' and used_at_ms is null");
    assert_eq!(count.trim(), "0");
    ogene.end().await;
}
