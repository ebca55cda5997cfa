//! One-time links by mail, over a real SMTP server.

use super::{Browser, PASSWORD, leads_to, member};
use crate::kit::http::Answer;
use crate::kit::{Ogene, Setup};
use crate::tls::tls_before;
use domain::user::role::Role;
use testkit::SmtpServer;

pub(super) fn with_mail(server: &str, tls: &str) -> Setup {
    Setup::new()
        .set("http.public_url", r#""http://localhost""#)
        .set("mail.server", &format!("{server:?}"))
        .set("mail.tls", &format!("{tls:?}"))
        .set("mail.from", r#""Ogene <sms@example.ng>""#)
}

/// Invites an operator as another one. Returns the page that answers.
async fn invited(ogene: &Ogene, email: &str) -> Answer {
    let (mut browser, _) = member(ogene, None, Role::Operator).await;
    let fields = [("email", email), ("role", "operator")];
    let (page, path) = ("/operator/team", "/operator/team/invite");
    browser.send(page, path, &fields).await
}

fn has_link(page: &Answer) -> bool {
    page.text().contains("http://localhost/links/")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_goes_by_mail_and_is_not_shown() {
    let smtp = SmtpServer::start();
    let setup = with_mail(&smtp.address().to_string(), "off")
        .set("mail.username", r#""ogene""#)
        .set("mail.password", r#""hush-hsh""#);
    let ogene = setup.start().await;
    let page = invited(&ogene, " Ada@example.ng").await;
    let text = page.text();
    assert!(
        page.status == 200 && text.contains("ada@example.ng has a mail now"),
        "{text}"
    );
    assert!(!has_link(&page), "{text}");
    let [mail] = smtp.mails().try_into().expect("one mail");
    assert!(mail.is_authenticated);
    assert!(mail.from.contains("<sms@example.ng>"), "{mail:?}");
    assert!(
        mail.to.len() == 1 && mail.to[0].contains("<ada@example.ng>"),
        "{mail:?}"
    );
    // The link of the mail lets the user in.
    let (_, link) = mail
        .text
        .split_once("http://localhost/links/")
        .expect("a link");
    let path = format!("/links/{}", link.lines().next().expect("its line").trim());
    let mut browser = Browser::new(&ogene);
    let fields = [("name", "Ada"), ("password", PASSWORD)];
    leads_to(&browser.send(&path, &path, &fields).await, "/operator/");
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_cannot_be_mailed_is_shown_with_the_reason() {
    let smtp = SmtpServer::start();
    let ogene = with_mail(&smtp.address().to_string(), "off").start().await;
    let page = invited(&ogene, "ada@nowhere.ng").await;
    let text = page.text();
    assert!(
        text.contains("The mail was not sent: the SMTP server refused it with 550."),
        "{text}"
    );
    assert!(has_link(&page), "{text}");
    ogene.end().await;
    // The port of a server that is gone, and a server without TLS.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let gone_address = gone.local_addr().expect("an address").to_string();
    drop(gone);
    for (server, tls) in [
        (gone_address, "off"),
        (smtp.address().to_string(), "starttls"),
    ] {
        let ogene = with_mail(&server, tls).start().await;
        let page = invited(&ogene, "ada@example.ng").await;
        let text = page.text();
        assert!(text.contains("The mail was not sent"), "{text}");
        assert!(has_link(&page), "{text}");
        ogene.end().await;
    }
    assert_eq!(smtp.mails(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_of_smtp_is_named_without_its_text() {
    let smtp = SmtpServer::start();
    let setup = with_mail(&smtp.address().to_string(), "off")
        .set("mail.username", r#""ogene""#)
        .set("mail.password", r#""not-this-one""#);
    let ogene = setup.start().await;
    let page = invited(&ogene, "ada@example.ng").await;
    let text = page.text();
    assert!(
        text.contains("refused it with 535") && has_link(&page),
        "{text}"
    );
    assert!(!text.contains("not-this-one"), "{text}");
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_over_tls_needs_a_trusted_certificate() {
    let smtp = SmtpServer::start();
    let (certificate, address) = tls_before(smtp.address(), false).await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("mail.pem");
    std::fs::write(&file, certificate).expect("written");
    let server = format!("localhost:{}", address.port());
    let ogene = with_mail(&server, "tls").start().await;
    let page = invited(&ogene, "ada@example.ng").await;
    assert!(has_link(&page), "{}", page.text());
    ogene.end().await;
    assert_eq!(smtp.mails(), []);
    let setup = with_mail(&server, "tls").set("mail.tls_ca", &format!("{file:?}"));
    let ogene = setup.start().await;
    let page = invited(&ogene, "ada@example.ng").await;
    assert!(!has_link(&page), "{}", page.text());
    ogene.end().await;
    assert_eq!(smtp.mails().len(), 1);
}
