//! One-time links by mail, or printed.

use crate::installation::Installation;
use serde_json::{Value, json};
use testkit::SmtpServer;

#[test]
fn a_link_is_mailed_or_printed_with_the_reason() {
    let smtp = SmtpServer::start();
    let ogene = Installation::new();
    ogene.configure(&format!(
        "public_url = \"https://sms.example.ng\"\n[mail]\nserver = \"{}\"\ntls = \"off\"\n\
         from = \"Ogene <sms@example.ng>\"\nusername = \"ogene\"\npassword = \"hush-hsh\"\n",
        smtp.address()
    ));
    let user = |email, name| {
        let create = ["user", "create", "--operator", "--name", name];
        ogene.json(&[&create[..], &["--email", email]].concat())
    };
    let made = user("ada@example.ng", "Ada");
    let reset = ["user", "reset", "--email", "ada@example.ng"];
    let mailed = ogene.json(&reset);
    for answer in [made, mailed] {
        assert_eq!(
            (&answer["mailed"], &answer["link"]),
            (&json!(true), &Value::Null)
        );
    }
    let subjects = smtp.mails().into_iter().map(|mail| {
        assert!(
            mail.text.contains("https://sms.example.ng/links/"),
            "{mail:?}"
        );
        let lines = mail.text.lines();
        lines.filter(|line| line.starts_with("Subject: ")).count()
    });
    assert_eq!(subjects.collect::<Vec<_>>(), [1, 1]);
    let printed = ogene.json(&[&reset[..], &["--print"]].concat());
    let refused = user("ada@nowhere.ng", "Ada");
    let has_link = |answer: &Value| {
        answer["link"]
            .as_str()
            .is_some_and(|link| link.contains("/links/"))
    };
    assert!(has_link(&printed) && has_link(&refused));
    assert_eq!(printed["mail_fault"], Value::Null);
    let reason = "The mail was not sent: the SMTP server refused it with 550.";
    assert_eq!(refused["mail_fault"], reason);
    assert_eq!(smtp.mails().len(), 2);
}
