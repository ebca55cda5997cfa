//! A request of a user who is signed in and has the permission of the page.

use super::background::{Counting, Verifying};
use super::browser_request::BrowserRequest;
use super::cookies::Cookie;
use super::failure::Failure;
use super::form::Form;
use super::traffic::Samples;
use crate::link_mail::{Delivery, deliver};
use axum::http::StatusCode;
use axum::response::Response;
use console::parts::Tone;
use console::{Notice, Section, Shell};
use domain::user::role::Permission;
use domain::user::secret::Secret;
use domain::{AccountId, Environment};
use engine::operators::{LinkText, Operations};
use engine::{Engine, Sessions, Visit};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::ops::Deref;

/// Longest text of a notice for the next page.
const MAX_NOTICE_CHARACTERS: usize = 300;

/// A request of a user who is signed in. It dereferences to the request: `visitor.param("id")`.
#[derive(Clone)]
pub(crate) struct Visitor {
    browser: BrowserRequest,
    /// The session, its user and role.
    pub(crate) visit: Visit,
}

impl Deref for Visitor {
    type Target = BrowserRequest;

    fn deref(&self) -> &BrowserRequest {
        &self.browser
    }
}

impl Visitor {
    pub(super) fn new(browser: BrowserRequest, visit: Visit) -> Self {
        Self { browser, visit }
    }

    /// Returns the engine.
    pub(crate) fn engine(&self) -> &Engine {
        &self.browser.console.engine
    }

    /// Returns all metrics of this node as Prometheus text.
    pub(crate) fn metrics(&self) -> String {
        (self.browser.console.metrics)()
    }

    /// Returns the samples of the traffic of carriers.
    pub(crate) fn samples(&self) -> &Samples {
        &self.browser.console.samples
    }

    /// Returns the verification of this node.
    pub(crate) fn verifying(&self) -> &Verifying {
        &self.browser.console.verifying
    }

    /// Returns the addition of the revenue on this node.
    pub(crate) fn counting(&self) -> &Counting {
        &self.browser.console.counting
    }

    /// Returns the operations on sessions and the own profile.
    pub(crate) fn sessions(&self) -> Sessions {
        self.engine().sessions()
    }

    /// Returns the operations of this user. The audit names the user.
    pub(crate) fn operations(&self) -> Operations {
        self.sessions().operations(&self.visit)
    }

    /// Sends a one-time link to its user by mail, or returns it to be shown. The address of the link
    /// comes second.
    pub(crate) async fn deliver(&self, link: &LinkText) -> (Delivery, String) {
        let address = format!("{}/links/{}", self.origin(), link.secret.text());
        let mail = self.browser.console.mail.as_ref();
        (deliver(mail, link, &address).await, address)
    }

    /// Returns the account whose pages the user sees. An operator has none.
    pub(crate) fn account(&self) -> Result<AccountId, Failure> {
        self.visit.account.ok_or(Failure::Forbidden)
    }

    /// Returns the environment whose data the pages show. An operator sees the live one.
    pub(crate) fn environment(&self) -> Environment {
        match self.visit.account {
            Some(_) => self.browser.environment,
            None => Environment::Live,
        }
    }

    /// Returns `true` if the user has a permission, for a part of a page that not all see.
    pub(crate) fn may(&self, permission: Permission) -> bool {
        self.visit.may(permission)
    }

    /// Returns the time of the engine's clock in Unix milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        self.sessions().now_ms()
    }

    /// Returns the frame around a page.
    pub(crate) fn shell(&self, title: &str, section: Section) -> Shell {
        let visit = &self.visit;
        let account_name = match visit.account {
            Some(_) => visit.account_name.clone(),
            None => "Installation".to_owned(),
        };
        Shell {
            title: title.to_owned(),
            section,
            account_name,
            is_sub_account: visit.parent.is_some(),
            user_name: visit.user_name.clone(),
            role: visit.role,
            csrf_token: visit.secret.form_token(),
            notices: self
                .browser
                .notice()
                .and_then(read_notice)
                .into_iter()
                .collect(),
            environment: self.environment(),
            theme: self.browser.theme,
            now_ms: self.now_ms(),
        }
    }

    /// Returns a page as an answer. A notice of the page before is shown once.
    pub(crate) fn answer(&self, screen: &impl console::Template) -> Response {
        self.answer_with(StatusCode::OK, screen)
    }

    /// Returns a page with a status, such as 422 for a form with faults.
    pub(crate) fn answer_with(
        &self,
        status: StatusCode,
        screen: &impl console::Template,
    ) -> Response {
        let response = self.browser.page(status, console::html(screen));
        match self.browser.notice() {
            Some(_) => self.browser.with_cookie(response, Cookie::Notice, ""),
            None => response,
        }
    }

    /// Leads to a page that shows that the change was made.
    pub(crate) fn done(&self, path: &str, text: &str) -> Response {
        self.browser.with_cookie(
            self.browser.redirect(path),
            Cookie::Notice,
            &notice("done", text),
        )
    }

    /// Leads to a page that shows why the change was refused.
    pub(crate) fn refused(&self, path: &str, text: &str) -> Response {
        self.browser.with_cookie(
            self.browser.redirect(path),
            Cookie::Notice,
            &notice("refused", text),
        )
    }

    /// Leads to a page after a change: with the notice `text`, or with the reason of a refusal that
    /// the user can mend.
    pub(crate) fn after<T>(
        &self,
        changed: Result<T, impl Into<Failure>>,
        path: &str,
        text: &str,
    ) -> Result<Response, Failure> {
        let changed: Result<T, Failure> = changed.map_err(Into::into);
        match changed {
            Ok(_) => Ok(self.done(path, text)),
            Err(failure) => {
                let (_, reason) = failure.shown()?;
                Ok(self.refused(path, &reason))
            }
        }
    }

    /// Adds the new secret of this session to an answer, after a change of the user's rights.
    pub(crate) fn with_session(&self, response: Response, secret: &Secret) -> Response {
        self.browser
            .with_cookie(response, Cookie::Session, secret.text())
    }

    /// Returns `true` if a form has the token of this session.
    pub(super) fn is_token(&self, form: &Form) -> bool {
        self.visit.secret.is_form_token(self.browser.token(form))
    }
}

fn notice(kind: &str, text: &str) -> String {
    let short: String = text.chars().take(MAX_NOTICE_CHARACTERS).collect();
    format!("{kind}.{}", utf8_percent_encode(&short, NON_ALPHANUMERIC))
}

fn read_notice(value: &str) -> Option<Notice> {
    let (kind, text) = value.split_once('.')?;
    let tone = match kind {
        "done" => Tone::Good,
        "refused" => Tone::Bad,
        _ => return None,
    };
    let text = percent_decode_str(text).decode_utf8().ok()?.into_owned();
    (text.chars().count() <= MAX_NOTICE_CHARACTERS).then_some(Notice { tone, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_survives_the_way_through_the_browser() {
        let sent = notice("done", "Ada; \"was\" invited, ₦5");
        assert!(
            sent.bytes()
                .all(|byte| byte.is_ascii_graphic() && !b";,\"".contains(&byte))
        );
        let read = read_notice(&sent).unwrap();
        assert_eq!(
            (read.tone, read.text.as_str()),
            (Tone::Good, "Ada; \"was\" invited, ₦5")
        );
        let long = notice("refused", &"x".repeat(1_000));
        assert_eq!(
            read_notice(&long).unwrap().text.len(),
            MAX_NOTICE_CHARACTERS
        );
        for forged in ["", "done", "other.text", "done.%FF"] {
            assert_eq!(read_notice(forged), None, "{forged}");
        }
    }
}
