//! Screens with content as the console shows it. The tests check each, and the gallery shows each.

use crate::chart::{Chart, Data, Form, Series};
use crate::figures;
use crate::parts::{Badge, Choice, Confirm, Empty, Field, Figure, Kind, Pager, Share, Tabs, Tone};
use crate::screens::{Confirmation, Failure, PlainForm};
use crate::{Notice, Section, Shell, Theme, html};
use domain::user::role::Role;
use domain::{Environment, Money};

mod files;
mod fraud;
mod inbound;
mod lists;
mod money;
mod overview;
mod payments;
mod programs;
mod revenue;
mod sub_accounts;
mod traffic;
mod users;

/// 29 November 2026 in Lagos.
pub(super) const NOW_MS: i64 = 1_795_968_402_000;

/// A text that breaks out of HTML wherever it is not escaped.
pub(super) const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}";

/// Returns all screens by name. The name is a file of the gallery.
pub(super) fn all() -> Vec<(&'static str, String)> {
    let mut all = vec![
        (
            "parts",
            html(&Gallery::new(shell("Parts", Section::Overview))),
        ),
        ("confirmation", html(&confirmation())),
        ("failure", html(&failure())),
        ("hostile", html(&hostile())),
        ("sign-in", html(&sign_in())),
        ("sign-in-code", html(&themed(PlainForm::second_factor()))),
        (
            "forgotten",
            html(&themed(PlainForm::forgotten("amina@kanofresh.example"))),
        ),
        (
            "forgotten-mailed",
            html(&themed(PlainForm::forgotten_mailed(
                "amina@kanofresh.example",
            ))),
        ),
        (
            "forgotten-without-mail",
            html(&themed(PlainForm::forgotten_without_mail())),
        ),
        ("set-up", html(&themed(PlainForm::set_up("", "")))),
        (
            "invitation",
            html(&themed(PlainForm::invitation(
                "Kano Fresh Foods",
                "/invitation",
            ))),
        ),
        (
            "new-password",
            html(&themed(PlainForm::new_password("/reset"))),
        ),
        ("overview", html(&overview::filled(Role::Owner))),
        ("overview-viewer", html(&overview::filled(Role::Viewer))),
        ("overview-empty", html(&overview::empty())),
        ("overview-sandbox", html(&overview::sandbox())),
    ];
    all.extend(traffic::all());
    all.extend(lists::all());
    all.extend(inbound::all());
    all.extend(money::all());
    all.extend(payments::all());
    all.extend(revenue::all());
    all.extend(programs::all());
    all.extend(sub_accounts::all());
    all.extend(users::all());
    all.extend(files::all());
    all.extend(fraud::all());
    all
}

pub(super) fn shell(title: &str, section: Section) -> Shell {
    Shell {
        title: title.to_owned(),
        section,
        account_name: "Kano Fresh Foods".to_owned(),
        is_sub_account: false,
        user_name: "Amina Bello".to_owned(),
        role: Role::Owner,
        csrf_token: "4nT0kEn".to_owned(),
        notices: Vec::new(),
        environment: Environment::Live,
        theme: theme(),
        now_ms: NOW_MS,
    }
}

/// The gallery can show all screens in one theme.
pub(super) fn theme() -> Theme {
    Theme::parse(&std::env::var("OGENE_GALLERY_THEME").unwrap_or_default())
}

fn confirmation() -> Confirmation {
    let facts = [
        ("Recipients", "1,204"),
        ("Cost", "₦7,826.00"),
        ("Balance after", "₦41,310.50"),
    ];
    Confirmation {
        shell: shell("Send 1,204 messages?", Section::Send),
        text: "The messages go out at once. A message that was submitted cannot be taken back."
            .to_owned(),
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        fields: vec![Field::text("reference", "Reference").optional()],
        hidden: vec![("draft".to_owned(), "d1".to_owned())],
        href: "/console/send".to_owned(),
        action: "Send now".to_owned(),
        back: "/console/send".to_owned(),
        is_dangerous: false,
    }
}

fn themed(screen: PlainForm) -> PlainForm {
    PlainForm {
        theme: theme(),
        csrf_token: "4nT0kEn".to_owned(),
        ..screen
    }
}

fn sign_in() -> PlainForm {
    let notice = Notice::refused("The e-mail address or the password is wrong. Try again.");
    PlainForm {
        notices: vec![notice],
        asks_passkey: true,
        ..themed(PlainForm::sign_in("amina@kanofresh.example"))
    }
}

fn failure() -> Failure {
    Failure::of_status(404, "req_01JF8Z", "/console/", theme())
}

fn hostile() -> Confirmation {
    let mut screen = confirmation();
    let text = || HOSTILE.to_owned();
    screen.shell.title = text();
    screen.shell.account_name = text();
    screen.shell.user_name = text();
    screen.shell.notices = vec![Notice::refused(HOSTILE)];
    screen.text = text();
    screen.facts = vec![(text(), text())];
    let field = Field::text("reference", HOSTILE)
        .hint(HOSTILE)
        .value(HOSTILE);
    screen.fields = vec![field.error(Some(text()))];
    screen.hidden = vec![("draft".to_owned(), text())];
    screen.action = text();
    screen
}

/// All parts on one screen.
#[derive(askama::Template)]
#[template(path = "gallery.html")]
struct Gallery {
    shell: Shell,
    tabs: Tabs,
    figures: Vec<Figure>,
    charts: Vec<Chart>,
    badges: Vec<Badge>,
    fields: Vec<Field>,
    bars: Vec<(&'static str, Share, String)>,
    empty: Empty,
    pager: Pager,
    confirm: Confirm,
}

impl Gallery {
    fn new(mut shell: Shell) -> Self {
        shell.notices = [
            Tone::Good,
            Tone::Bad,
            Tone::Warning,
            Tone::Waiting,
            Tone::Plain,
        ]
        .map(|tone| Notice {
            tone,
            text: "The sender ID KANOFRESH was approved.".to_owned(),
        })
        .to_vec();
        let tabs = [
            ("24 hours", "?period=24h"),
            ("7 days", "?period=7d"),
            ("30 days", "?period=30d"),
        ];
        Self {
            shell,
            tabs: Tabs::new("Period", "24 hours", &tabs),
            figures: figures(),
            charts: vec![
                chart(Form::Lines, "Sent", &[("Sent", Tone::Plain)]),
                chart(
                    Form::Bars,
                    "Outcomes",
                    &[("Delivered", Tone::Good), ("Failed", Tone::Bad)],
                ),
            ],
            badges: [
                Tone::Good,
                Tone::Bad,
                Tone::Warning,
                Tone::Waiting,
                Tone::Plain,
            ]
            .map(|tone| Badge::new(tone, format!("{tone:?}")))
            .to_vec(),
            fields: fields(),
            bars: [("MTN", 812), ("Airtel", 240), ("Glo", 96)]
                .map(|(name, count)| (name, Share::of(count, 1148), figures::count(count)))
                .to_vec(),
            empty: Empty::new(
                "No messages yet",
                "A message appears here once you send one.",
            )
            .action("Send a message", "/console/send"),
            pager: Pager {
                first: Some("?".to_owned()),
                next: Some("?cursor=x".to_owned()),
                note: "50 messages".to_owned(),
            },
            confirm: Confirm {
                id: "revoke".to_owned(),
                action: "Revoke token".to_owned(),
                title: "Revoke the token “Website”?".to_owned(),
                text: "Requests with it are refused from now on.".to_owned(),
                href: "/console/tokens/revoke".to_owned(),
                csrf_token: "4nT0kEn".to_owned(),
                hidden: vec![("token".to_owned(), "7".to_owned())],
                is_dangerous: true,
            },
        }
    }
}

fn figures() -> Vec<Figure> {
    vec![
        Figure::new("Sent", "12,480")
            .href("?figure=sent")
            .current(true),
        Figure::new("Delivered", "12,143")
            .note(Tone::Good, "97.3 %")
            .href("?figure=delivered"),
        Figure::new("Failed", "337").note(Tone::Bad, "2.7 %"),
        Figure::new("Spend", figures::naira(Money::from_naira(81_120))),
    ]
}

fn fields() -> Vec<Field> {
    let choices = ["bulk", "dnd"].map(|value| Choice::new(value, value.to_uppercase()));
    vec![
        Field::text("sender", "Sender ID")
            .hint("At most 11 letters or digits.")
            .value("KANOFRESH"),
        Field::text("recipient", "Recipient")
            .value("0803")
            .inputmode("tel")
            .error(Some(
                "The number is too short. Nigerian numbers have 11 digits.".to_owned(),
            )),
        Field::new(Kind::Select(choices.to_vec()), "gateway", "Gateway").value("dnd"),
        Field::new(Kind::Radio(choices.to_vec()), "route", "Route").value("bulk"),
        Field::new(Kind::Lines(4), "text", "Text").optional(),
        Field::new(Kind::Checkbox, "test", "Send a test to my number").optional(),
        Field::new(Kind::File(".csv,.xlsx"), "file", "File").optional(),
    ]
}

/// A day whose traffic rises towards noon.
pub(super) fn chart(form: Form, title: &str, series: &[(&str, Tone)]) -> Chart {
    const SHAPE: [i64; 24] = [
        12, 8, 4, 2, 3, 9, 40, 120, 260, 410, 520, 580, 610, 540, 560, 600, 480, 390, 300, 210,
        150, 90, 60, 30,
    ];
    let values = |at: usize| {
        let divisor = [1, 18][at % 2];
        SHAPE.map(|value| value / divisor).to_vec()
    };
    let series = series.iter().enumerate().map(|(at, (name, tone))| Series {
        name: (*name).to_owned(),
        tone: *tone,
        values: values(at),
    });
    Chart::draw(&Data {
        title: title.to_owned(),
        form,
        periods: (0..24)
            .map(|hour| (format!("{hour:02}:00"), format!("29 Nov, {hour:02}:00")))
            .collect(),
        series: series.collect(),
        unit: 1,
        write: |value| figures::count(value.unsigned_abs()),
        write_short: figures::short,
        is_last_open: true,
    })
}
