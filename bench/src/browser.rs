//! A browser of the console: it signs in by the form, keeps cookies, and sends forms with their
//! token.

use crate::http::Connection;
use crate::site::Site;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

const PASSWORD: &str = "correct horse battery";
/// The boundary of the parts of an upload.
const BOUNDARY: &str = "bench-boundary";
const FORM: &str = "application/x-www-form-urlencoded";

/// A browser with the session of a user.
pub(crate) struct Browser {
    address: SocketAddr,
    connection: Connection,
    cookies: BTreeMap<String, String>,
}

/// An answer of the console.
pub(crate) struct Page {
    pub(crate) status: u16,
    /// The address that the answer leads to, or nothing.
    pub(crate) location: String,
    pub(crate) html: String,
}

impl Page {
    /// Returns the token of the forms of this page.
    pub(crate) fn token(&self) -> Result<&str> {
        let rest = self.html.split_once("name=\"csrf_token\" value=\"");
        let token = rest.and_then(|(_, rest)| rest.split('"').next());
        token.with_context(|| format!("no form, but {} {}", self.status, self.reason()))
    }

    /// Returns the path that the answer leads to.
    pub(crate) fn leads_to(&self) -> Result<&str> {
        if self.status != 303 {
            bail!("answered {} and not 303: {}", self.status, self.reason());
        }
        Ok(&self.location)
    }

    /// Returns the reason of a refusal, as the page shows it.
    pub(crate) fn reason(&self) -> &str {
        let rest = self.html.split_once("role=\"alert\">");
        let reason = rest.and_then(|(_, rest)| rest.split('<').next());
        reason.unwrap_or("without a reason")
    }
}

impl Browser {
    async fn new(address: SocketAddr) -> Result<Self> {
        Ok(Self {
            address,
            connection: Connection::open(address).await?,
            cookies: BTreeMap::new(),
        })
    }

    /// Returns a browser of the same session with a connection of its own.
    pub(crate) async fn another(&self) -> Result<Self> {
        Ok(Self {
            cookies: self.cookies.clone(),
            ..Self::new(self.address).await?
        })
    }

    /// Makes a user: the owner of an account, or an operator. The user chooses a password by the
    /// one-time link, and signs in by the form.
    pub(crate) async fn sign_in(site: &Site, account: Option<&str>) -> Result<Self> {
        let email = format!("{}@example.ng", account.unwrap_or("operator"));
        let place = match account {
            Some(account) => vec!["--account", account, "--role", "owner"],
            None => vec!["--operator"],
        };
        let create = ["user", "create", "--email", &email, "--name", "Ada"];
        let made = site.ogene(&[&create[..], &place[..]].concat())?;
        let link = made["link"].as_str().context("no link")?;
        let (_, secret) = link.rsplit_once('/').context("no secret")?;
        let link = format!("/links/{secret}");
        let mut browser = Self::new(site.http[0]).await?;
        let chosen = browser
            .send(&link, &link, &[("password", PASSWORD)])
            .await?;
        chosen.leads_to()?;
        let fields = [("email", email.as_str()), ("password", PASSWORD)];
        let entered = browser.send("/sign-in", "/sign-in", &fields).await?;
        entered.leads_to()?;
        Ok(browser)
    }

    /// Loads a page.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Page> {
        let request = self.head("GET", path, "");
        self.ask(request.as_bytes()).await
    }

    /// Loads a page that must be there.
    pub(crate) async fn page(&mut self, path: &str) -> Result<Page> {
        let page = self.get(path).await?;
        if page.status != 200 {
            bail!("{path} is answered {} {}", page.status, page.location);
        }
        Ok(page)
    }

    /// Asks for a part of an open page, as its script does.
    pub(crate) async fn part(&mut self, path: &str) -> Result<()> {
        let request = self.head("GET", path, "HX-Request: true\r\n");
        let page = self.ask(request.as_bytes()).await?;
        if page.status != 200 {
            bail!("{path} is answered {} {}", page.status, page.location);
        }
        Ok(())
    }

    /// Loads the page of a form, and sends the form.
    pub(crate) async fn send(
        &mut self,
        page: &str,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Result<Page> {
        let page = self.get(page).await?;
        let token = page.token()?.to_owned();
        let mut body = format!("csrf_token={}", encoded(&token));
        for (name, value) in fields {
            // Writing to a string does not fail.
            let _ = write!(body, "&{name}={}", encoded(value));
        }
        let more = self.more(FORM, body.len());
        let request = self.head("POST", path, &more) + &body;
        self.ask(request.as_bytes()).await
    }

    /// Returns the request of an upload, as the script of the page makes it.
    pub(crate) async fn upload(&mut self, path: &str, name: &str, file: &[u8]) -> Result<Vec<u8>> {
        let token = self.page(path).await?.token()?.to_owned();
        let before = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        );
        let after = format!("\r\n--{BOUNDARY}--\r\n");
        let length = before.len() + file.len() + after.len();
        let more = self.more(&format!("multipart/form-data; boundary={BOUNDARY}"), length);
        let path = format!("{path}?csrf_token={token}");
        let head = self.head("POST", &path, &more) + &before;
        Ok([head.as_bytes(), file, after.as_bytes()].concat())
    }

    fn more(&self, media_type: &str, length: usize) -> String {
        format!(
            "Origin: http://{}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n",
            self.address
        )
    }

    /// Returns the head of a request. `more` has further lines.
    fn head(&self, method: &str, path: &str, more: &str) -> String {
        let cookies = self.cookies.iter();
        let cookies: Vec<_> = cookies
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{more}\r\n",
            self.address,
            cookies.join("; ")
        )
    }

    /// Sends a whole request. Keeps the cookies of its answer.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<Page> {
        let answer = self.connection.ask(request).await?;
        for line in answer.headers(b"set-cookie") {
            let line = String::from_utf8_lossy(line).into_owned();
            let pair = line.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').context("a cookie has a value")?;
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = answer.header(b"location").unwrap_or_default();
        Ok(Page {
            status: answer.status,
            location: String::from_utf8_lossy(location).into_owned(),
            html: String::from_utf8_lossy(answer.body).into_owned(),
        })
    }
}

/// Returns a text in the form of a field of a form.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for octet in text.bytes() {
        if octet.is_ascii_alphanumeric() {
            encoded.push(char::from(octet));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{octet:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_no_character_of_its_form() {
        assert_eq!(encoded("Ada & co=1"), "Ada%20%26%20co%3D1");
    }

    #[test]
    fn a_page_has_the_token_of_its_forms() {
        let page = Page {
            status: 200,
            location: String::new(),
            html: "<input type=\"hidden\" name=\"csrf_token\" value=\"abc\">".to_owned(),
        };
        assert_eq!(page.token().expect("a token"), "abc");
        assert!(page.leads_to().is_err());
    }
}
