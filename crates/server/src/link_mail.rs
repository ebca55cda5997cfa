//! One-time links: sent to their users by mail, or returned to be shown.

use crate::format::lagos_time;
use domain::user::link::LinkPurpose;
use engine::operators::LinkText;
use engine::{Mail, MailError, MailSettings};

/// The way that a link takes to its user.
#[derive(Debug)]
pub(crate) enum Delivery {
    /// The SMTP server has the mail.
    Mailed,
    /// The maker of the link gives it to the user.
    Shown {
        /// The reason why it was not sent by mail, if there is an SMTP server.
        fault: Option<MailError>,
    },
}

impl Delivery {
    /// Returns the sentence about a mail that was not sent.
    pub(crate) fn fault(&self) -> Option<String> {
        match self {
            Self::Shown { fault: Some(error) } => Some(format!("The mail was not sent: {error}.")),
            Self::Mailed | Self::Shown { fault: None } => None,
        }
    }
}

/// Sends a link to its user if there is an SMTP server. `address` is the whole link.
pub(crate) async fn deliver(
    settings: Option<&MailSettings>,
    link: &LinkText,
    address: &str,
) -> Delivery {
    let Some(settings) = settings else {
        return Delivery::Shown { fault: None };
    };
    match send(settings, link, address).await {
        Ok(()) => Delivery::Mailed,
        Err(error) => {
            tracing::warn!(%error, "mail: one-time link not sent, it is shown to its maker");
            Delivery::Shown { fault: Some(error) }
        }
    }
}

/// Sends a link to its user. `address` is the whole link.
pub(crate) async fn send(
    settings: &MailSettings,
    link: &LinkText,
    address: &str,
) -> Result<(), MailError> {
    let (subject, text) = words(link, address);
    let mail = Mail {
        to: &link.email,
        subject: &subject,
        text: &text,
    };
    settings.send(mail).await
}

/// Returns the subject and the text of the mail with a link.
fn words(link: &LinkText, address: &str) -> (String, String) {
    let origin = address.split("/links/").next().unwrap_or_default();
    let (subject, purpose) = match link.purpose {
        LinkPurpose::Invitation => ("You are invited to the console", "join the console"),
        LinkPurpose::SetUp | LinkPurpose::Reset | LinkPurpose::Demo => (
            "Choose a password for the console",
            "choose a password for the console",
        ),
    };
    let text = format!(
        "Hello,\n\nOpen this link to {purpose} at {origin}:\n\n{address}\n\n\
         It is good once, until {} (Lagos). If you expected no such mail, ignore it.\n",
        lagos_time(link.expires_at_ms)
    );
    (format!("{subject} at {origin}"), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::user::secret::Secret;

    #[test]
    fn a_mail_names_the_purpose_the_end_and_the_link() {
        let link = LinkText {
            secret: Secret::make(&[7; 32]),
            email: "ada@example.ng".to_owned(),
            purpose: LinkPurpose::Reset,
            expires_at_ms: 1_795_219_200_000,
        };
        let (subject, text) = words(&link, "https://sms.example.ng/links/abc");
        insta::assert_snapshot!(format!("{subject}\n\n{text}"), @r"
        Choose a password for the console at https://sms.example.ng

        Hello,

        Open this link to choose a password for the console at https://sms.example.ng:

        https://sms.example.ng/links/abc

        It is good once, until 2026-11-21 01:00:00 (Lagos). If you expected no such mail, ignore it.
        ");
    }
}
