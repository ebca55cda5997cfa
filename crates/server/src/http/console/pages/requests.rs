//! The request log: the requests of the API that were refused, with the reason of each.

use super::super::failure::Failure;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::request;
use super::shared::pager;
use crate::http::docs::page::example;
use console::Section;
use console::figures::{duration, time};
use console::parts::{Badge, Cell, Column, Empty, Table, Tone};
use console::screens::{Listing, Request};
use domain::SenderStatus;
use engine::RefusedRequest;
use engine::operators::PageRequest;
use serde_json::Value;

const PATH: &str = "/console/requests";

/// `GET /console/requests`.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let query = visitor.query();
    let log = visitor.operations().requests();
    let found = log.list(visitor.account()?, &request(&visitor)).await?;
    let columns = vec![
        Column::text("Request"),
        Column::text("Reason"),
        Column::number("Status").wide(),
        Column::number("Time"),
    ];
    let table = Table {
        label: "Requests".to_owned(),
        columns,
        rows: found.items.iter().map(row).collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = Empty::new(
        "No request was refused",
        "A request of the API that is refused appears here with its reason.",
    );
    let lead = "Requests of the API that were refused, at most 20 a minute. An accepted send is \
                under Messages.";
    let shell = visitor.shell("Request log", Section::Requests);
    let screen = Listing {
        lead: lead.to_owned(),
        pager: pager(PATH, query, &[], &found, "request"),
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&screen))
}

fn row(one: &RefusedRequest) -> Vec<Cell> {
    vec![
        Cell::Link {
            name: format!("{} {}", one.method, one.route),
            href: format!("{PATH}/{}.{}", one.at_ms, one.request_id),
            note: one.code.clone(),
        },
        Cell::text(one.message.clone()),
        Cell::Status(badge(one)),
        Cell::Time(one.at_ms),
    ]
}

fn badge(one: &RefusedRequest) -> Badge {
    let tone = match one.status {
        500.. => Tone::Bad,
        _ => Tone::Warning,
    };
    Badge::new(tone, one.status.to_string())
}

/// `GET /console/requests/{id}`. The id is the time and the id of the request.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let id = visitor.param("id").split_once('.');
    let (at_ms, request_id) = id.ok_or(Failure::NotFound)?;
    let at_ms: i64 = at_ms.parse().map_err(|_| Failure::NotFound)?;
    let log = visitor.operations().requests();
    let found = log.show(visitor.account()?, at_ms, request_id).await?;
    let one = found.ok_or(Failure::NotFound)?;
    let facts = [
        ("Time", time(one.at_ms)),
        ("Code", one.code.clone()),
        ("Duration", duration(one.took_ms)),
        ("Request ID", one.request_id.clone()),
        ("Token", one.token_id.clone()),
    ];
    let title = format!("{} {}", one.method, one.route);
    let body = body(&visitor, &one).await?;
    let command = |one: &RefusedRequest| curl(&visitor.origin(), one, body.as_ref());
    let screen = Request {
        shell: visitor.shell(&title, Section::Requests),
        back: PATH.to_owned(),
        status: badge(&one),
        facts: facts.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        curl: command(&one),
        sandbox: in_sandbox(&one).map(|one| command(&one)),
        message: one.message,
    };
    Ok(visitor.answer(&screen))
}

/// Returns the body that the documentation has as the example of the operation, with a sender ID of
/// the account. No body of the request was kept.
async fn body(visitor: &Visitor, one: &RefusedRequest) -> Result<Option<Value>, Failure> {
    let document = visitor.console.settings.load().document.clone();
    let Some(mut body) = example(&document, &one.method, &one.route) else {
        return Ok(None);
    };
    if let Some(from) = body.get_mut("from") {
        let (senders, newest) = (visitor.operations().senders(), PageRequest::new(100, None));
        let page = senders.list(Some(visitor.account()?), &newest).await?;
        let mut all = page.items.into_iter().map(|one| one.sender);
        if let Some(own) = all.find(|own| own.status == SenderStatus::Approved) {
            *from = own.name.into();
        }
    }
    Ok(Some(body))
}

/// Returns the command that makes a request again, with an example of its body.
fn curl(origin: &str, one: &RefusedRequest, body: Option<&Value>) -> String {
    let body = body.map(|body| {
        // The shell ends a quoted text at the sign.
        let quoted = body.to_string().replace('\'', "'\\''");
        format!(" \\\n  -H 'Content-Type: application/json' \\\n  -d '{quoted}'")
    });
    let body = body.unwrap_or_default();
    let (method, route) = (&one.method, &one.route);
    format!("curl -X {method} '{origin}{route}' \\\n  -H \"Authorization: Bearer $TOKEN\"{body}")
}

/// Returns a request as a request of the sandbox. Only version 2 of the interface has a sandbox.
fn in_sandbox(one: &RefusedRequest) -> Option<RefusedRequest> {
    let rest = one.route.strip_prefix("/api/v2/")?;
    let route = format!("/api/sandbox/v2/{rest}");
    Some(RefusedRequest {
        route,
        ..one.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::AccountId;
    use serde_json::json;

    #[test]
    fn a_command_has_the_route_an_example_and_no_token() {
        let mut one = RefusedRequest {
            account: AccountId(1),
            at_ms: 0,
            request_id: "r".to_owned(),
            token_id: "tok_1".to_owned(),
            method: "POST".to_owned(),
            route: "/api/v2/sms".to_owned(),
            status: 422,
            code: "API-2001".to_owned(),
            message: String::new(),
            took_ms: 1,
        };
        let body = json!({ "from": "Ada's" });
        let text = curl("https://sms.example.ng", &one, Some(&body));
        assert!(text.starts_with("curl -X POST 'https://sms.example.ng/api/v2/sms'"));
        assert!(text.contains("Bearer $TOKEN"), "{text}");
        assert!(text.ends_with(r#"-d '{"from":"Ada'\''s"}'"#), "{text}");
        let simulated = in_sandbox(&one).map(|one| one.route);
        assert_eq!(simulated.as_deref(), Some("/api/sandbox/v2/sms"));
        for route in ["/api/v1/sms/send", "/api/sandbox/v2/sms"] {
            one.route = route.to_owned();
            assert_eq!(in_sandbox(&one), None, "{route}");
        }
        one.method = "GET".to_owned();
        assert!(curl("", &one, None).ends_with("$TOKEN\""));
    }
}
