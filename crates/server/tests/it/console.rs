//! The console over HTTP: sign-in, sessions, links, roles, and what an attacker tries.

mod account_search;
mod callbacks;
mod changes;
mod contacts;
mod counter;
mod file;
mod first_steps;
mod forgotten;
mod forms;
mod hostile;
mod links;
mod mail;
mod messages;
mod opt_outs;
mod overview;
mod passkey_answers;
mod passkeys;
mod paused_blocks;
mod payments;
mod programs;
mod requests;
mod revenue;
mod routes;
mod sessions;
mod sign_in;
mod sub_accounts;
mod top_ups;
mod warnings;

use crate::kit::http::{Answer, Request, try_ask};
use crate::kit::{Ogene, operations};
use domain::AccountId;
use domain::user::UserId;
use domain::user::role::Role;
use engine::operators::LinkText;
use std::collections::BTreeMap;
use std::net::SocketAddr;

const PASSWORD: &str = "correct horse battery";
/// The host that the client of these tests names, as an origin.
const ORIGIN: &str = "http://localhost";

/// A browser: it keeps cookies, and sends its origin with each form.
struct Browser {
    address: SocketAddr,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    fn new(ogene: &Ogene) -> Self {
        Self {
            address: ogene.address,
            cookies: BTreeMap::new(),
        }
    }

    fn session(&self) -> String {
        self.cookies.get("ogene").cloned().unwrap_or_default()
    }

    async fn ask(&mut self, request: Request) -> Answer {
        let cookies = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let cookies: Vec<String> = cookies.collect();
        let request = request.header("Cookie", &cookies.join("; "));
        let answer = try_ask(self.address, &request).await.expect("an answer");
        for line in answer.headers("set-cookie") {
            let (pair, rest) = line.split_once(';').expect("attributes");
            let (name, value) = pair.split_once('=').expect("a value");
            assert!(
                rest.contains("HttpOnly") && rest.contains("SameSite=Lax"),
                "{line}"
            );
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.ask(Request::get(path)).await
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let request = Request::post(path).header("Origin", ORIGIN);
        self.ask(request.form(fields)).await
    }

    /// Loads the page of a form, and sends the form with its token.
    async fn send(&mut self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let page = self.get(page).await;
        let token = token(&page);
        let mut fields = fields.to_vec();
        fields.push(("csrf_token", &token));
        self.post(path, &fields).await
    }

    async fn sign_in(&mut self, email: &str, password: &str) -> Answer {
        let fields = [("email", email), ("password", password)];
        self.send("/sign-in", "/sign-in", &fields).await
    }

    async fn open(&mut self, link: &LinkText, fields: &[(&str, &str)]) -> Answer {
        let path = format!("/links/{}", link.secret.text());
        self.send(&path, &path, fields).await
    }
}

fn token(page: &Answer) -> String {
    let start = "name=\"csrf_token\" value=\"";
    let rest = page
        .text()
        .split_once(start)
        .unwrap_or_else(|| panic!("{}", page.text()))
        .1;
    rest.split('"').next().expect("an end").to_owned()
}

fn leads_to(answer: &Answer, path: &str) {
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some(path)),
        "{}",
        answer.text()
    );
}

/// A browser that is signed in as a new user with a role, and the user.
async fn member(ogene: &Ogene, of: Option<AccountId>, role: Role) -> (Browser, UserId) {
    let email = format!(
        "{}-{}@example.ng",
        role.as_str(),
        of.unwrap_or(AccountId(0))
    );
    let store = ogene.store().await;
    let link = operations(&store)
        .users()
        .demo_link(&email, of, role)
        .await
        .expect("a link");
    let (user, _) = operations(&store)
        .users()
        .show(&email)
        .await
        .expect("a user");
    store.close().await;
    let mut browser = Browser::new(ogene);
    let home = if of.is_some() {
        "/console/"
    } else {
        "/operator/"
    };
    leads_to(&browser.open(&link, &[]).await, home);
    (browser, user.id)
}

/// A user with a password.
async fn with_password(ogene: &Ogene, email: &str, of: Option<AccountId>, role: Role) -> UserId {
    let store = ogene.store().await;
    let users = operations(&store).users();
    let (user, link) = users.create(email, "Ada", of, role).await.expect("a user");
    store.close().await;
    let chosen = Browser::new(ogene)
        .open(&link, &[("password", PASSWORD)])
        .await;
    leads_to(&chosen, "/sign-in");
    user
}
