//! The send to a file of recipients.

use super::{Browser, ORIGIN, leads_to, member, token};
use crate::kit::http::{Answer, Request};
use crate::kit::wire::gsm;
use crate::kit::{Ogene, SENDER, Setup};
use domain::user::role::Role;

const PATH: &str = "/console/send/file";
/// Three rows that are sent, and a row for each reason that a file itself can give.
const FILE: &str = "Name;Phone;Due\r\nAda;08031234567;1 May\r\nUche;8031234568;2 May\r\n\
    Obi;'+234 805-123 4567;3 May\r\nAda;2348031234567;4 May\r\nEve;0803;5 May\r\n\
    Zik;2.34803E+12;6 May\r\nBen;+447911123456;7 May\r\nSim;08031234569;\r\n;;\r\n";

async fn upload(browser: &mut Browser, content: &str) -> Answer {
    let token = token(&browser.get(PATH).await);
    let request = Request::post(&format!("{PATH}?csrf_token={token}")).header("Origin", ORIGIN);
    browser.ask(request.multipart(&[("file", content)])).await
}

/// Uploads a file, and returns the path of its page.
pub(super) async fn uploaded(browser: &mut Browser, content: &str) -> String {
    let answer = upload(browser, content).await;
    let path = answer.header("location").unwrap_or_default().to_owned();
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert!(path.starts_with(PATH), "{path}");
    path
}

/// Returns the hidden fields and the texts of the last form of a page that goes to `path`.
fn fields_of(page: &Answer, path: &str) -> Vec<(String, String)> {
    let action = format!("action=\"{path}\"");
    let forms = page.text().split("<form");
    let form = forms
        .filter(|form| form.contains(&action))
        .last()
        .unwrap_or_else(|| panic!("{path}: {}", page.text()));
    let form = form.split("</form>").next().unwrap_or_default();
    let value = |tag: &str, name: &str| {
        let rest = tag.split_once(&format!(" {name}=\""))?.1;
        Some(rest.split('"').next()?.replace("&#10;", "\n"))
    };
    let tags = form.split("<input type=\"hidden\"").skip(1);
    tags.filter_map(|tag| Some((value(tag, "name")?, value(tag, "value")?)))
        .collect()
}

fn pairs<'p>(
    fields: &'p [(String, String)],
    more: &[(&'p str, &'p str)],
) -> Vec<(&'p str, &'p str)> {
    let given = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    given.chain(more.iter().copied()).collect()
}

/// Posts the text of a send for review.
async fn reviewed(browser: &mut Browser, path: &str, body: &str) -> Answer {
    posted(browser, path, "review", body).await
}

/// Posts the text of a send to a step: the counter or the review.
async fn posted(browser: &mut Browser, path: &str, step: &str, body: &str) -> Answer {
    let page = browser.get(path).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let fields = fields_of(&page, &format!("{path}/review"));
    let text = [
        ("from", SENDER),
        ("body", body),
        ("gateway", "direct-refund"),
    ];
    let step = format!("{path}/{step}");
    browser.post(&step, &pairs(&fields, &text)).await
}

fn shows(page: &Answer, parts: &[&str]) {
    for part in parts {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_sent_as_it_was_counted() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let path = uploaded(&mut browser, FILE).await;
    let page = browser.get(&path).await;
    shows(
        &page,
        &["CSV in UTF-8, with semicolons", "{Name}, {Due}", "B: Phone"],
    );
    shows(
        &page,
        &[
            "Digits are lost",
            "Foreign number",
            "in row 2 already",
            "Not a valid number",
        ],
    );
    let empty = posted(&mut browser, &path, "count", "").await;
    shows(&empty, &["Type a text to see the pages and the cost"]);
    let text = "Dear {Name}, pay by {Due}";
    let counter = posted(&mut browser, &path, "count", text).await;
    let review = reviewed(&mut browser, &path, text).await;
    assert_eq!(review.status, 200, "{}", review.text());
    shows(
        &review,
        &[
            "Send to 3 recipients?",
            "Dear Uche, pay by 2 May",
            "{Due} has no value",
        ],
    );
    let before = ogene.total().await;
    let send = format!("{path}/send");
    let fields = fields_of(&review, &send);
    let accepted = browser.post(&send, &pairs(&fields, &[])).await;
    let message = accepted.header("location").unwrap_or_default().to_owned();
    assert!(
        message.starts_with("/console/messages/"),
        "{}",
        accepted.text()
    );
    let cost = before - ogene.total().await;
    let shown = format!("{cost:.2}").replace('.', "<small>.");
    shows(&review, &[&shown]);
    shows(&counter, &[&shown, "GSM, at most 1 for a recipient", "mtn"]);
    // The same form again is the same message.
    let again = browser.post(&send, &pairs(&fields, &[])).await;
    leads_to(&again, &message);
    let mut texts: Vec<String> = ogene
        .received(3)
        .await
        .iter()
        .map(|one| gsm(&one.submit.short_message))
        .collect();
    texts.sort();
    assert_eq!(texts.len(), 3);
    assert!(texts[0].starts_with("Dear Ada, pay by 1 May"), "{texts:?}");
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_left_out_are_downloaded() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let path = uploaded(&mut browser, FILE).await;
    let review = reviewed(&mut browser, &path, "Pay by {Due}").await;
    let download = format!("{path}/left-out");
    let fields = fields_of(&review, &download);
    let file = browser.post(&download, &pairs(&fields, &[])).await;
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    // The client keeps the sizes of chunks, which have no comma.
    let lines = file.text().lines().filter(|line| line.contains(','));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert_eq!(lines[0], "row,reason,Name,Phone,Due");
    assert_eq!(
        lines[1],
        "5,The number is in row 2 already.,Ada,2348031234567,4 May"
    );
    assert!(lines[3].starts_with("7,A spreadsheet has rounded the number."));
    assert!(lines[5].starts_with("9,The placeholder {Due} has no value."));
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_is_several_messages_of_one_send() {
    let ogene = Setup::new().set("limits.max_recipients", "2").start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let numbers = (0..5).map(|last| format!("0803123456{last}\n"));
    let path = uploaded(&mut browser, &numbers.collect::<String>()).await;
    let review = reviewed(&mut browser, &path, "Hello").await;
    shows(&review, &["Send to 5 recipients?", "sent as 3 messages"]);
    let send = format!("{path}/send");
    let fields = fields_of(&review, &send);
    let before = ogene.total().await;
    leads_to(
        &browser.post(&send, &pairs(&fields, &[])).await,
        "/console/messages",
    );
    let cost = before - ogene.total().await;
    assert_eq!(ogene.received(5).await.len(), 5);
    // A send that was interrupted goes on behind the messages that were accepted.
    let again = browser.post(&send, &pairs(&fields, &[("next", "1")])).await;
    leads_to(&again, "/console/messages");
    assert!((before - cost - ogene.total().await).abs() < 0.001);
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_belongs_to_its_account_and_to_a_limit() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let refused = [
        ("", "has no rows"),
        ("%PDF-1.4\0\0", "neither CSV nor XLSX"),
        ("a,b\n1,\"2\n", "begins in row 2 is never closed"),
    ];
    for (content, reason) in refused {
        let answer = upload(&mut browser, content).await;
        assert_eq!(answer.status, 422, "{}", answer.text());
        shows(&answer, &[reason]);
    }
    let mut paths = Vec::new();
    for _ in 0..5 {
        paths.push(uploaded(&mut browser, "08031234567\n").await);
    }
    let full = upload(&mut browser, "08031234567\n").await;
    shows(&full, &["5 files are kept already"]);
    let other = ogene.customer("9.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    let rivals = token(&rival.get(PATH).await);
    assert_eq!(rival.get(&paths[0]).await.status, 404);
    for part in ["delete", "review", "send", "left-out"] {
        let fields = [
            ("csrf_token", rivals.as_str()),
            ("mapped", "yes"),
            ("body", "Hi"),
            ("key", "k"),
        ];
        let answer = rival.post(&format!("{}/{part}", paths[0]), &fields).await;
        assert_eq!(answer.status, 404, "{part}: {}", answer.text());
    }
    let page = browser.get(PATH).await;
    let fields = [("csrf_token", token(&page))];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
    leads_to(
        &browser.post(&format!("{}/delete", paths[0]), &fields).await,
        PATH,
    );
    assert_eq!(browser.get(&paths[0]).await.status, 404);
    uploaded(&mut browser, "08031234567\n").await;
    ogene.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_cannot_be_sent_is_shown_again_with_its_reason() {
    let ogene = Ogene::start().await;
    let (mut browser, _) = member(&ogene, Some(ogene.shop.id), Role::Owner).await;
    let path = uploaded(&mut browser, "Name,To\nAda,08031234567\n").await;
    let texts = [
        (
            "Hi {town}",
            "No column is named {town}. The columns are {Name}, {To}.",
        ),
        ("Hi {", "is not part of a placeholder"),
        ("", "Type a text first."),
    ];
    for (text, reason) in texts {
        let answer = reviewed(&mut browser, &path, text).await;
        assert_eq!(answer.status, 422);
        shows(&answer, &[reason]);
    }
    // The other column has no number, so no row can be sent.
    let page = browser
        .get(&format!("{path}?mapped=yes&number=0&header=yes"))
        .await;
    let review = format!("{path}/review");
    let fields = fields_of(&page, &review);
    let text = [
        ("from", SENDER),
        ("body", "Hi"),
        ("gateway", "direct-refund"),
    ];
    let answer = browser.post(&review, &pairs(&fields, &text)).await;
    shows(&answer, &["No row of the file can be sent"]);
    ogene.end().await;
}
