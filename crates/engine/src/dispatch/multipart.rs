//! The state of a multipart recipient: accepted pages and outcomes of the others.

use crate::context::outcome::{Outcome, Rejection};

/// The outcome of all pages of a recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    Accepted(Vec<String>),
    Rejected(Rejection),
    NotSent,
    Unknown,
}

/// The pages of one recipient with several pages.
#[derive(Default)]
pub(crate) struct MultipartState {
    /// The message id of each page that the carrier accepted.
    ids: Vec<Option<String>>,
    outstanding: usize,
    rejected: Option<Rejection>,
    not_sent: bool,
    unknown: bool,
}

impl MultipartState {
    /// Submits all pages that are not accepted yet. Returns a bit for each, where bit 0 is the
    /// first page.
    pub(crate) fn send_due(&mut self, pages: usize) -> u64 {
        let mut ids = std::mem::take(&mut self.ids);
        ids.resize(pages, None);
        let open = ids.iter().enumerate().filter(|(_, id)| id.is_none());
        let (outstanding, due) = open.fold((0, 0), |(count, due), (page, _)| {
            (count + 1, due | 1 << page)
        });
        *self = Self {
            ids,
            outstanding,
            ..Self::default()
        };
        due
    }

    /// Records the outcome of a page. Returns the answer once no submitted page waits for its
    /// outcome.
    pub(crate) fn record(&mut self, page: usize, outcome: Outcome) -> Option<Answer> {
        self.outstanding = self.outstanding.saturating_sub(1);
        match outcome {
            Outcome::Accepted { message_id } => {
                if let Some(id) = self.ids.get_mut(page) {
                    *id = Some(message_id);
                }
            }
            Outcome::Rejected(rejection) => {
                self.rejected.get_or_insert(rejection);
            }
            Outcome::NotSent | Outcome::RefusedTogether => self.not_sent = true,
            Outcome::Unknown => self.unknown = true,
        }
        if self.outstanding > 0 {
            return None;
        }
        Some(match self.rejected.clone() {
            // A page with unknown outcome may be with the carrier, whatever the others returned.
            _ if self.unknown => Answer::Unknown,
            Some(rejection) => Answer::Rejected(rejection),
            None if self.not_sent => Answer::NotSent,
            None => Answer::Accepted(self.ids.iter().flatten().cloned().collect()),
        })
    }

    /// Returns `true` if the carrier accepted some of the pages.
    pub(crate) fn is_begun(&self) -> bool {
        self.ids.iter().any(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smpp::CommandStatus;

    fn accepted(id: &str) -> Outcome {
        let message_id = id.to_owned();
        Outcome::Accepted { message_id }
    }

    #[test]
    fn accepted_pages_are_not_submitted_again() {
        let mut multipart = MultipartState::default();
        assert_eq!(multipart.send_due(3), 0b111);
        assert_eq!(multipart.record(0, accepted("a")), None);
        assert_eq!(multipart.record(2, Outcome::NotSent), None);
        let throttled = Rejection::Smpp(CommandStatus::RTHROTTLED);
        let answer = multipart.record(1, Outcome::Rejected(throttled.clone()));
        assert_eq!(answer, Some(Answer::Rejected(throttled)));
        assert!(multipart.is_begun());
        assert_eq!(multipart.send_due(3), 0b110);
        assert!(multipart.is_begun());
        assert_eq!(multipart.record(2, accepted("c")), None);
        let all = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(
            multipart.record(1, accepted("b")),
            Some(Answer::Accepted(all))
        );
    }

    #[test]
    fn one_page_in_doubt_leaves_all_pages_in_doubt() {
        let mut multipart = MultipartState::default();
        multipart.send_due(2);
        assert_eq!(multipart.record(0, Outcome::Unknown), None);
        let refused = Outcome::Rejected(Rejection::Smpp(CommandStatus::RSYSERR));
        assert_eq!(multipart.record(1, refused), Some(Answer::Unknown));
    }

    #[test]
    fn a_recipient_is_begun_when_a_page_is_accepted() {
        let mut multipart = MultipartState::default();
        multipart.send_due(2);
        assert_eq!(multipart.record(0, Outcome::NotSent), None);
        assert_eq!(multipart.record(1, Outcome::NotSent), Some(Answer::NotSent));
        assert!(!multipart.is_begun());
    }
}
