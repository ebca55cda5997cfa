//! Messages, recipients and the wallet, with content and empty.

use super::{HOSTILE, NOW_MS, shell};
use crate::figures::naira;
use crate::parts::{Badge, Choice, Confirm, Empty, Field, Figure, Kind, Pager, Tabs, Tone};
use crate::screens::{
    Message, MessageProgress, MessageRow, Messages, Recipient, RecipientRow, Request,
    TimelineEvent, Wallet, WalletRow,
};
use crate::{Section, Shell, html};
use domain::user::role::Role;
use domain::{DeliveryStatus, Money};

const MINUTE_MS: i64 = 60_000;

pub(super) fn all() -> Vec<(&'static str, String)> {
    vec![
        ("messages", html(&messages(rows()))),
        ("all-messages", html(&all_messages())),
        ("messages-empty", html(&messages(Vec::new()))),
        ("messages-hostile", html(&messages(vec![hostile_row()]))),
        ("message", html(&message())),
        ("recipient", html(&recipient())),
        ("request", html(&request())),
        ("wallet", html(&wallet(entries()))),
        ("wallet-empty", html(&wallet(Vec::new()))),
    ]
}

fn messages(rows: Vec<MessageRow>) -> Messages {
    Messages {
        shell: shell("Messages", Section::Messages),
        filters: vec![
            Field::text("recipient", "Number").optional(),
            Field::text("sender", "Sender ID").optional(),
            state_filter(),
            Field::new(Kind::Input("datetime-local"), "since", "From").optional(),
        ],
        is_filtered: false,
        error: None,
        pager: Pager {
            first: None,
            next: (!rows.is_empty()).then(|| "?cursor=x".to_owned()),
            note: format!("{} messages", rows.len()),
        },
        rows,
        empty: Empty::new(
            "No messages yet",
            "A message appears here as soon as it is accepted.",
        )
        .action("Send messages", "/console/send"),
        href: "/console/messages".to_owned(),
        export: Some("/console/exports/recipients.csv".to_owned()),
    }
}

fn all_messages() -> Messages {
    let rows = rows().into_iter().map(|row| MessageRow {
        account: Some("Kano Fresh Foods".to_owned()),
        ..row
    });
    let all = messages(rows.collect());
    let shell = Shell {
        role: Role::Operator,
        account_name: "Installation".to_owned(),
        ..shell("Messages", Section::AllMessages)
    };
    Messages {
        shell,
        href: "/operator/messages".to_owned(),
        export: None,
        ..all
    }
}

fn state_filter() -> Field {
    let choices = ["", "scheduled", "sending", "completed"]
        .map(|value| Choice::new(value, if value.is_empty() { "Any" } else { value }));
    Field::new(Kind::Select(choices.to_vec()), "state", "State").optional()
}

fn rows() -> Vec<MessageRow> {
    let row =
        |at: i64, sender: &str, text: &str, state, (recipients, delivered), cost| MessageRow {
            href: format!("/console/messages/{at}"),
            at_ms: NOW_MS - at * MINUTE_MS,
            sender: sender.to_owned(),
            text: text.to_owned(),
            account: None,
            state,
            recipients: crate::figures::count(recipients),
            delivered: crate::figures::percent(delivered, recipients),
            cost: naira(Money::from_naira(cost)),
        };
    vec![
        row(
            1,
            "KANOFRESH",
            "Ranka ya dade! Fresh tomatoes at ₦4,500 a basket until Friday. Reply STOP to opt out.",
            Badge::new(Tone::Waiting, "Sending"),
            (12_480, 7_310),
            81_120,
        ),
        row(
            64,
            "KANOFRESH",
            "Your order 8841 leaves the depot at 14:00.",
            Badge::new(Tone::Good, "Completed"),
            (1, 1),
            6,
        ),
        row(
            300,
            "KF-ALERT",
            "One-time password",
            Badge::new(Tone::Good, "Completed"),
            (1, 0),
            6,
        ),
    ]
}

fn hostile_row() -> MessageRow {
    MessageRow {
        href: "/console/messages/1".to_owned(),
        at_ms: NOW_MS,
        sender: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
        account: Some(HOSTILE.to_owned()),
        state: Badge::new(Tone::Bad, HOSTILE),
        recipients: "1".to_owned(),
        delivered: "0 %".to_owned(),
        cost: "₦0.00".to_owned(),
    }
}

fn message() -> Message {
    let figures = vec![
        Figure::new("Recipients", "12,480"),
        Figure::new("Delivered", "7,310").note(Tone::Good, "58.5 %"),
        Figure::new("Failed", "112").note(Tone::Bad, "0.8 %"),
        Figure::new("Pending", "5,058").note(Tone::Waiting, "40.5 %"),
        Figure::new("Cost", "₦81,120.00").note(Tone::Plain, "₦448.00 refunded"),
    ];
    let facts = [
        ("Message ID", "0197c2f4-8e11-7abc-9def-0123456789ab"),
        ("Sender ID", "KANOFRESH"),
        ("Gateway", "direct-refund"),
        ("Pages", "1 for each recipient"),
        ("Accepted", "29 Nov 2026, 16:05:42"),
        ("Reference", "november-offer"),
    ];
    let row = |number: &str, status, error: &str| RecipientRow {
        href: format!("/console/messages/1/{number}"),
        recipient: number.to_owned(),
        network: "mtn".to_owned(),
        status: Badge::of_delivery(status),
        error: error.to_owned(),
        pages: "1".to_owned(),
        cost: "₦6.50".to_owned(),
        at_ms: NOW_MS - MINUTE_MS,
    };
    let tabs = [("All", "?"), ("Delivered", "?status=delivrd")];
    Message {
        shell: shell("Message from KANOFRESH", Section::Messages),
        back: "/console/messages".to_owned(),
        changes: vec![cancel()],
        links: [("Retry failed", "retry"), ("Export CSV", "recipients.csv")]
            .map(|(name, last)| (name.to_owned(), format!("/console/messages/1/{last}")))
            .to_vec(),
        progress: MessageProgress {
            refresh: Some("/console/messages/1?part=progress".to_owned()),
            state: Badge::new(Tone::Waiting, "Sending"),
            figures,
        },
        text: Some("Ranka ya dade!\nFresh tomatoes at ₦4,500 a basket until Friday.".to_owned()),
        no_text: String::new(),
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        tabs: Tabs::new("Status", "All", &tabs),
        recipients: vec![
            row("2348031234567", DeliveryStatus::Delivered, ""),
            row("2348057654321", DeliveryStatus::Undelivered, "006"),
            row("2349091112223", DeliveryStatus::Sent, ""),
        ],
        empty: Empty::new("No recipient", "No recipient has this status."),
        pager: Pager::default(),
    }
}

fn cancel() -> Confirm {
    Confirm {
        id: "cancel".to_owned(),
        action: "Cancel message".to_owned(),
        title: "Cancel the message?".to_owned(),
        text: "Recipients that were not submitted are refunded. The others stay as they are."
            .to_owned(),
        href: "/console/messages/1/cancel".to_owned(),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: true,
    }
}

fn request() -> Request {
    let facts = [
        ("Time", "29 Nov 2026, 16:05:42"),
        ("Code", "API-2012"),
        ("Duration", "12 ms"),
        ("Request ID", "9f86d081884c7d65"),
        ("Token", "tok_00c0ffee00c0ffee"),
    ];
    Request {
        shell: shell("POST /api/v2/sms", Section::Requests),
        back: "/console/requests".to_owned(),
        status: Badge::new(Tone::Warning, "422"),
        message: "The same text went to the same number within 60 s. Wait, or change it."
            .to_owned(),
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        curl: "curl -X POST 'https://sms.example.ng/api/v2/sms' -d @request.json".to_owned(),
        sandbox: Some(
            "curl -X POST 'https://sms.example.ng/api/sandbox/v2/sms' -d @request.json".to_owned(),
        ),
    }
}

fn recipient() -> Recipient {
    let event = |after, tone, title: &str, detail: &str, raw: &str| TimelineEvent {
        at_ms: NOW_MS - MINUTE_MS + after,
        tone,
        title: title.to_owned(),
        detail: detail.to_owned(),
        raw: raw.to_owned(),
    };
    let receipt = "id:7C2A sub:001 dlvrd:000 submit date:2611291606 done date:2611291606 stat:UNDELIV err:006 text:Ranka ya dade";
    Recipient {
        shell: shell("2348057654321", Section::Messages),
        back: "/console/messages/1".to_owned(),
        status: Badge::of_delivery(DeliveryStatus::Undelivered),
        explanation: "The carrier could not deliver it (error 006), and ₦6.50 was refunded."
            .to_owned(),
        facts: [("Network", "mtn"), ("Pages", "1"), ("Cost", "₦6.50")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        text: None,
        events: vec![
            event(0, Tone::Plain, "Accepted", "₦6.50 was charged.", ""),
            event(80, Tone::Plain, "Submitted", "Carrier mtn took 1 page.", ""),
            event(4_000, Tone::Waiting, "Receipt", "Carrier mtn", receipt),
            event(4_000, Tone::Bad, "Undelivered", "", ""),
            event(4_000, Tone::Good, "Refunded", "₦6.50", ""),
            event(4_300, Tone::Plain, "Callback", "Attempt 1: 200", ""),
        ],
    }
}

fn wallet(rows: Vec<WalletRow>) -> Wallet {
    Wallet {
        shell: shell("Wallet", Section::Wallet),
        balances: vec![
            Figure::new("Balance", "₦41,310.50"),
            Figure::new("Universal wallet", "₦40,310.50"),
            Figure::new("SMS bonus", "₦1,000.00"),
        ],
        filters: vec![
            Field::new(Kind::Input("date"), "since", "From").optional(),
            Field::new(Kind::Input("date"), "until", "Before").optional(),
        ],
        is_filtered: false,
        error: None,
        rows,
        empty: Empty::new("No entries", "A charge, refund or credit appears here."),
        pager: Pager::default(),
        export: "/console/exports/wallet.csv".to_owned(),
    }
}

fn entries() -> Vec<WalletRow> {
    let row = |at: i64, kind: &str, detail: &str, naira_amount: i64, balance| WalletRow {
        at_ms: NOW_MS - at * MINUTE_MS,
        kind: kind.to_owned(),
        detail: detail.to_owned(),
        href: (kind != "Credit").then(|| "/console/messages/1".to_owned()),
        component: "Universal wallet".to_owned(),
        amount: naira(Money::from_naira(naira_amount)),
        is_gain: naira_amount > 0,
        balance: naira(Money::from_naira(balance)),
    };
    vec![
        row(1, "Refund", "2348057654321", 6, 40_310),
        row(2, "Charge", "", -81_120, 40_304),
        row(90, "Credit", "INV-2291", 100_000, 121_424),
    ]
}
