//! Failures of pages: the status, and the page that a person sees.

use crate::http::respond::request_id;
use axum::http::StatusCode;
use console::figures::capitalised;
use domain::{ObjectRefusal, Refusal};
use engine::SessionError;
use engine::operators::OperationError;

/// The reason why a page was not answered as asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The session has ended, or the request has none.
    SignedOut,
    /// The role lacks the permission.
    Forbidden,
    /// The form comes from elsewhere, or its token is missing or old.
    Forged,
    /// The page does not exist, or the thing that it names.
    NotFound,
    /// The body is no form.
    NotAForm,
    /// The body is too large.
    TooLarge,
    /// The body did not arrive in time.
    Slow,
    /// There were too many attempts.
    TooOften(String),
    /// The service is busy, or the database is not reachable.
    Busy,
    /// The change was refused for a reason that the user can mend.
    Refused(String),
}

impl Failure {
    /// Returns the status of the answer.
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::SignedOut => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::Forged => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::NotAForm => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::TooOften(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }

    /// Returns the sentence for a failure that the page itself shows, such as a wrong password. Any
    /// other failure is returned as it is.
    pub(crate) fn shown(self) -> Result<(StatusCode, String), Self> {
        let status = self.status();
        match self {
            Self::Refused(text) | Self::TooOften(text) => Ok((status, text)),
            other => Err(other),
        }
    }

    /// Returns title and text where the status alone does not name the remedy.
    pub(super) fn text(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Forged => Some((
                "The form has expired",
                "Go back, load the page again, and repeat the change. Nothing was changed."
                    .to_owned(),
            )),
            Self::NotAForm => Some((
                "The form was not understood",
                "Go back, and send the form again. Nothing was changed.".to_owned(),
            )),
            Self::Slow => Some((
                "The form did not arrive in time",
                "Try again with a better connection. Nothing was changed.".to_owned(),
            )),
            Self::Refused(text) => Some(("The change was refused", text.clone())),
            Self::TooOften(text) => Some(("There were too many attempts", text.clone())),
            _ => None,
        }
    }
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Self {
        tracing::warn!(%error, request.id = %request_id::current(), "page: not answered, the database failed");
        Self::Busy
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Store(error) => error.into(),
            SessionError::Operation(error) => error.into(),
            SessionError::Busy => Self::Busy,
            SessionError::Ended => Self::SignedOut,
            SessionError::Wait { .. } => Self::TooOften(error.to_string()),
            other => Self::Refused(sentence(&other.to_string())),
        }
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::Store(error) => error.into(),
            OperationError::Query(_) => Self::Busy,
            OperationError::NoAccount(_)
            | OperationError::NoSubAccount(_)
            | OperationError::NoMessage => Self::NotFound,
            other => Self::Refused(sentence(&other.to_string())),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::UnknownMessage
            | Refusal::UnknownPath
            | Refusal::Object(ObjectRefusal::UnknownTopUp | ObjectRefusal::UnknownAlert) => {
                Self::NotFound
            }
            Refusal::Unavailable { .. } => Self::Busy,
            other => Self::Refused(sentence(&other.to_string())),
        }
    }
}

impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Refused(refusal) => refusal.into(),
            engine::Error::Store(_) => Self::Busy,
        }
    }
}

/// Returns a text that begins with a capital letter and ends with a full stop.
pub(super) fn sentence(text: &str) -> String {
    let stop = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{stop}", capitalised(text))
}
