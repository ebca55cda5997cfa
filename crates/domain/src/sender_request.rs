//! The request of a customer for a sender ID, and its decision.

use crate::account::{SenderId, SenderStatus};
use crate::refusal::{ObjectRefusal, Refusal};
use crate::sender::{check_registration, same};

/// Maximum number of sender IDs of an account that are pending.
pub const MAX_PENDING_SENDERS: usize = 20;
/// Maximum number of characters of a purpose.
pub const MAX_PURPOSE_CHARACTERS: usize = 255;

/// The raw fields of a request for a sender ID.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SenderFields {
    /// The sender ID.
    pub sender_id: Option<String>,
    /// The purpose.
    pub purpose: Option<String>,
}

/// A request for a sender ID.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SenderRequest {
    /// The sender ID.
    pub name: String,
    /// The purpose in the customer's words.
    pub purpose: String,
}

/// The effect of a request for a sender ID.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SenderDecision {
    /// The account registers the sender ID.
    Add(SenderId),
    /// The operator decides again on a rejected sender ID, with its new purpose.
    Reopen(SenderId),
    /// The account has the sender ID, and it stays as it is.
    Keep(SenderId),
}

impl SenderDecision {
    /// Returns the sender ID after the request.
    pub fn sender(self) -> SenderId {
        match self {
            Self::Add(sender) | Self::Reopen(sender) | Self::Keep(sender) => sender,
        }
    }
}

impl SenderRequest {
    /// Parses the fields of a request.
    pub fn read(fields: &SenderFields) -> Result<Self, Refusal> {
        let name = fields.sender_id.as_deref().unwrap_or_default();
        if check_registration(name).is_err() {
            return Err(Refusal::Malformed(
                "`sender_id` must be 3 to 11 letters A to Z, digits, spaces and hyphens, with at least one letter and \
                 without a space at its ends."
                    .to_owned(),
            ));
        }
        let purpose = fields.purpose.as_deref().unwrap_or_default().trim();
        let has_length = (1..=MAX_PURPOSE_CHARACTERS).contains(&purpose.chars().count());
        if !has_length || purpose.chars().any(char::is_control) {
            return Err(Refusal::Malformed(format!(
                "`purpose` must say in 1 to {MAX_PURPOSE_CHARACTERS} characters of one line what the sender ID is for."
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            purpose: purpose.to_owned(),
        })
    }

    /// Decides on the request of an account that has these sender IDs.
    pub fn decide(&self, senders: &[SenderId]) -> Result<SenderDecision, Refusal> {
        let known = senders.iter().find(|known| same(&known.name, &self.name));
        if let Some(known) = known
            && known.status != SenderStatus::Rejected
        {
            return Ok(SenderDecision::Keep(known.clone()));
        }
        let is_pending = |sender: &&SenderId| sender.status == SenderStatus::Pending;
        if senders.iter().filter(is_pending).count() >= MAX_PENDING_SENDERS {
            return Err(Refusal::Object(ObjectRefusal::SendersPending {
                limit: MAX_PENDING_SENDERS,
            }));
        }
        Ok(match known {
            Some(known) => SenderDecision::Reopen(SenderId {
                status: SenderStatus::Pending,
                purpose: self.purpose.clone(),
                rejection_reason: None,
                ..known.clone()
            }),
            None => SenderDecision::Add(SenderId {
                name: self.name.clone(),
                status: SenderStatus::Pending,
                purpose: self.purpose.clone(),
                international: false,
                approved_at_ms: None,
                rejection_reason: None,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sender_id: &str, purpose: &str) -> Result<SenderRequest, String> {
        let fields = SenderFields {
            sender_id: Some(sender_id.to_owned()),
            purpose: Some(purpose.to_owned()),
        };
        SenderRequest::read(&fields).map_err(|refusal| refusal.to_string())
    }

    fn known(name: &str, status: SenderStatus) -> SenderId {
        SenderId {
            name: name.to_owned(),
            status,
            purpose: "News".to_owned(),
            international: false,
            approved_at_ms: None,
            rejection_reason: Some("Unclear".to_owned()),
        }
    }

    #[test]
    fn a_request_names_a_sender_id_and_its_purpose() {
        let request = read("AdaStores", "  Order updates ").unwrap();
        assert_eq!(request.name, "AdaStores");
        assert_eq!(request.purpose, "Order updates");
        let long = "x".repeat(256);
        for (sender_id, purpose, field) in [
            ("", "News", "`sender_id`"),
            ("Ada&Co", "News", "`sender_id`"),
            ("2442", "News", "`sender_id`"),
            ("AdaStores", " ", "`purpose`"),
            ("AdaStores", &long, "`purpose`"),
            ("AdaStores", "News\u{1B}[2J", "`purpose`"),
            ("AdaStores", "a\nb", "`purpose`"),
        ] {
            let refusal = read(sender_id, purpose).unwrap_err();
            assert!(refusal.starts_with(field), "{refusal}");
        }
        assert!(SenderRequest::read(&SenderFields::default()).is_err());
    }

    #[test]
    fn only_a_new_or_rejected_sender_id_becomes_pending() {
        use SenderStatus as S;
        let request = read("AdaStores", "Order updates").unwrap();
        let added = request.decide(&[known("Other", S::Approved)]).unwrap();
        assert!(matches!(&added, SenderDecision::Add(_)), "{added:?}");
        assert_eq!(added.sender().status, S::Pending);
        for status in [S::Pending, S::Approved, S::Suspended] {
            let kept = known("ADASTORES", status);
            let decided = request.decide(std::slice::from_ref(&kept));
            assert_eq!(decided, Ok(SenderDecision::Keep(kept)));
        }
        let reopened = request.decide(&[known("adastores", S::Rejected)]).unwrap();
        let expected = SenderId {
            purpose: "Order updates".to_owned(),
            rejection_reason: None,
            ..known("adastores", S::Pending)
        };
        assert_eq!(reopened, SenderDecision::Reopen(expected));
    }

    #[test]
    fn at_most_20_sender_ids_of_an_account_are_pending() {
        let name = |number| known(&format!("Shop {number}"), SenderStatus::Pending);
        let mut senders: Vec<_> = (0..MAX_PENDING_SENDERS - 1).map(name).collect();
        let request = read("AdaStores", "Order updates").unwrap();
        assert!(request.decide(&senders).is_ok());
        senders.push(name(99));
        let refused = Err(Refusal::Object(ObjectRefusal::SendersPending { limit: 20 }));
        assert_eq!(request.decide(&senders), refused);
        senders.push(known("AdaStores", SenderStatus::Rejected));
        assert_eq!(request.decide(&senders), refused);
        senders[0].status = SenderStatus::Approved;
        assert!(request.decide(&senders).is_ok());
    }
}
