//! Carriers, for operators: connections, traffic and queues.

use super::super::failure::Failure;
use super::super::page::Answered;
use super::super::traffic::{self, ACCEPTED, Reading, Readings};
use super::super::visitor::Visitor;
use super::lists::words;
use super::{carrier_changes, trace};
use crate::explanation::meaning;
use console::Section;
use console::figures::{count, counted, duration, percent};
use console::parts::{Badge, Cell, Column, Empty, Figure, Table, Tone};
use console::screens::{Details, Listing, Part};
use domain::time::lagos_time;
use engine::CarrierState;
use smpp::{CommandStatus, Direction, LoggedPdu, MaskedAddress, PDU_LOG_ROWS};
use std::collections::BTreeMap;

/// The address of the list of carriers.
pub(super) const PATH: &str = carrier_changes::PATH;

/// The traffic of this node, by carrier.
struct Traffic {
    readings: Readings,
    /// Submits a second, if an earlier view allows to measure them.
    rates: BTreeMap<String, f64>,
}

impl Traffic {
    fn of(visitor: &Visitor) -> Self {
        let readings = traffic::read(&visitor.metrics());
        let rates = visitor.samples().rates(visitor.now_ms(), &readings);
        Self { readings, rates }
    }

    fn reading(&self, carrier: &str) -> Reading {
        self.readings.get(carrier).cloned().unwrap_or_default()
    }

    fn rate(&self, carrier: &str) -> String {
        let rate = self.rates.get(carrier);
        rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate:.1} / s"))
    }
}

/// `GET /operator/carriers`.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let empty = Empty::new(
        "No carriers",
        "The configuration names them under [carriers.NAME]. Without one only the sandbox works.",
    );
    let mut listing = Listing::new(
        visitor.shell("Carriers", Section::Carriers),
        table(&visitor).await?,
        empty,
    );
    listing.lead = String::from(
        "Queues are those of all nodes. Rate, window and failures are those of this node.",
    );
    listing.actions = vec![("Trace a number".to_owned(), trace::PATH.to_owned())];
    listing.refresh = Some(PATH.to_owned());
    Ok(visitor.answer(&listing))
}

/// Returns the carriers as a table.
pub(super) async fn table(visitor: &Visitor) -> Result<Table, Failure> {
    let carriers = visitor.engine().installation().carriers().await?;
    let (traffic, now_ms) = (Traffic::of(visitor), visitor.now_ms());
    let rows = carriers.iter().map(|carrier| {
        let reading = traffic.reading(&carrier.name);
        vec![
            Cell::Link {
                name: carrier.name.clone(),
                href: format!("{PATH}/{}", carrier.name),
                note: carrier.address.clone(),
            },
            Cell::Status(state(carrier)),
            Cell::text(count(carrier.queue.waiting)),
            Cell::text(oldest(carrier, now_ms)),
            Cell::text(traffic.rate(&carrier.name)),
            Cell::text(window(carrier, &reading)),
            Cell::text(percent(reading.failures(), reading.results())),
            Cell::text(count(carrier.queue.in_doubt)),
        ]
    });
    Ok(Table {
        label: "Carriers".to_owned(),
        columns: vec![
            Column::text("Carrier"),
            Column::text("State"),
            Column::number("Waiting"),
            Column::number("Oldest").wide(),
            Column::number("Rate").wide(),
            Column::number("In window").wide(),
            Column::number("Failures").wide(),
            Column::number("In doubt").wide(),
        ],
        rows: rows.collect(),
        now_ms,
    })
}

/// `GET /operator/carriers/{name}`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let carriers = visitor.engine().installation().carriers().await?;
    let name = visitor.param("name");
    let found = carriers.iter().find(|carrier| carrier.name == name);
    let carrier = found.ok_or(Failure::NotFound)?;
    let traffic = Traffic::of(&visitor);
    let reading = traffic.reading(&carrier.name);
    let mut sections = vec![responses(&reading, visitor.now_ms())];
    // PDUs are those of SMPP.
    if carrier.system_id.is_some() {
        sections.push(last_pdus(&visitor, &carrier.name));
    }
    sections.push(carrier_changes::throttled(carrier));
    let screen = Details {
        shell: visitor.shell(&carrier.name, Section::Carriers),
        back: ("All carriers".to_owned(), PATH.to_owned()),
        changes: carrier_changes::offered(&visitor, carrier),
        figures: figures(carrier, &traffic, visitor.now_ms()),
        facts: facts(carrier, &reading),
        sections,
        refresh: Some(format!("{PATH}/{}", carrier.name)),
    };
    Ok(visitor.answer(&screen))
}

/// Returns the badge of a carrier: what an operator stopped, or else its connections.
fn state(carrier: &CarrierState) -> Badge {
    if !carrier.control.submits() {
        return Badge::new(Tone::Warning, words(carrier.control.mode.as_str()));
    }
    connections(carrier)
}

/// Returns the badge of a carrier's connections.
fn connections(carrier: &CarrierState) -> Badge {
    let text = match (&carrier.system_id, carrier.bound) {
        (Some(_), bound) => format!("{bound} of {} bound", carrier.binds),
        (None, 0) => "not connected".to_owned(),
        (None, _) => "connected".to_owned(),
    };
    let tone = match carrier.bound {
        0 => Tone::Bad,
        bound if bound < carrier.binds => Tone::Warning,
        _ => Tone::Good,
    };
    Badge::new(tone, text)
}

/// Returns the time for which the oldest due batch waits.
fn oldest(carrier: &CarrierState, now_ms: i64) -> String {
    let due = carrier.queue.oldest_due_ms.filter(|due| *due <= now_ms);
    due.map_or_else(|| "–".to_owned(), |due| duration(now_ms - due))
}

fn window(carrier: &CarrierState, reading: &Reading) -> String {
    let size = (carrier.window * carrier.bound) as u64;
    format!("{} of {}", count(reading.in_window), count(size))
}

fn figures(carrier: &CarrierState, traffic: &Traffic, now_ms: i64) -> Vec<Figure> {
    let (queue, reading) = (carrier.queue, traffic.reading(&carrier.name));
    let limit = carrier.control.rate(carrier.max_per_second).map_or_else(
        || "no limit".to_owned(),
        |limit| format!("at most {limit} / s"),
    );
    let tone = match queue.in_doubt {
        0 => Tone::Plain,
        _ => Tone::Warning,
    };
    let held = format!("{} held", count(queue.held));
    vec![
        Figure::new("Waiting", count(queue.waiting)).note(Tone::Plain, held),
        Figure::new("Oldest waits", oldest(carrier, now_ms)),
        Figure::new("Rate", traffic.rate(&carrier.name)).note(Tone::Plain, limit),
        Figure::new("In window", window(carrier, &reading)),
        Figure::new("In doubt", count(queue.in_doubt)).note(tone, "without a known outcome"),
    ]
}

fn facts(carrier: &CarrierState, reading: &Reading) -> Vec<(String, String)> {
    let waited = |percent| {
        let bound = reading.waited(percent);
        bound.map_or_else(|| "–".to_owned(), within)
    };
    // A carrier by HTTP has no system id, and its window counts requests.
    let (protocol, window) = match &carrier.system_id {
        Some(system_id) => (("System id", system_id.clone()), "Window of a connection"),
        None => (("Protocol", "HTTP".to_owned()), "Requests at once"),
    };
    let facts = [
        ("State", words(carrier.control.mode.as_str())),
        ("Connections", connections(carrier).text),
        ("Address", carrier.address.clone()),
        protocol,
        (window, count(carrier.window as u64)),
        ("Half are submitted", waited(50)),
        ("95 % are submitted", waited(95)),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Returns the bound of a histogram as people read it.
fn within(bound: &str) -> String {
    match bound {
        "+Inf" => "after more than a minute".to_owned(),
        seconds => format!("within {seconds} s of acceptance"),
    }
}

/// Returns the results of submits, the most frequent first.
fn responses(reading: &Reading, now_ms: i64) -> Part {
    let mut results: Vec<(&String, &u64)> = reading.responses.iter().collect();
    results.retain(|(_, number)| **number > 0);
    results.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    let rows = results.into_iter().map(|(status, number)| {
        vec![
            Cell::Code(status.clone()),
            Cell::text(explained(status)),
            Cell::text(count(*number)),
            Cell::text(percent(*number, reading.results())),
        ]
    });
    Part {
        title: "Results of submits".to_owned(),
        lead: "Each page counts, since this node started.".to_owned(),
        table: Some(Table {
            label: "Results of submits".to_owned(),
            columns: vec![
                Column::text("Status"),
                Column::text("Meaning").wide(),
                Column::number("Pages"),
                Column::number("Share"),
            ],
            rows: rows.collect(),
            now_ms,
        }),
        empty: Some(Empty::new(
            "No submits yet",
            "The results of the carrier are counted here.",
        )),
        form: None,
    }
}

/// Returns the last PDUs of this node, masked.
fn last_pdus(visitor: &Visitor, carrier: &str) -> Part {
    let pdus = visitor.engine().installation().last_pdus(carrier);
    let rows = pdus.into_iter().map(|(at_ms, pdu)| pdu_row(at_ms, &pdu));
    Part {
        title: "Last PDUs".to_owned(),
        lead: format!(
            "The newest {PDU_LOG_ROWS} of this node. Numbers are masked, and texts are not kept."
        ),
        table: Some(Table {
            label: "Last PDUs".to_owned(),
            columns: vec![
                Column::text("Time"),
                Column::text("Direction").wide(),
                Column::text("Command"),
                Column::number("Sequence").wide(),
                Column::text("Status"),
                Column::text("From").wide(),
                Column::text("To").wide(),
                Column::number("Text").wide(),
            ],
            rows: rows.collect(),
            now_ms: visitor.now_ms(),
        }),
        empty: Some(Empty::new(
            "No PDUs yet",
            "Binds, submits and receipts appear here as they are sent and received.",
        )),
        form: None,
    }
}

fn pdu_row(at_ms: i64, pdu: &LoggedPdu) -> Vec<Cell> {
    let direction = match pdu.direction {
        Direction::Sent => "Sent",
        Direction::Received => "Received",
    };
    // A request has no status.
    let status = if pdu.command.is_response() {
        status_name(pdu.status)
    } else {
        "–".to_owned()
    };
    let addresses = pdu.addresses.as_ref();
    let address = |address: Option<&MaskedAddress>| {
        address.map_or_else(
            || Cell::text("–"),
            |one| Cell::Code(one.as_str().to_owned()),
        )
    };
    let octets = pdu.text_octets.map_or_else(
        || "–".to_owned(),
        |octets| counted(u64::from(octets), "octet"),
    );
    vec![
        Cell::Code(clock_time(at_ms)),
        Cell::text(direction),
        Cell::Code(pdu.command.name().to_owned()),
        Cell::text(pdu.sequence.to_string()),
        Cell::Code(status),
        address(addresses.map(|(from, _)| from)),
        address(addresses.map(|(_, to)| to)),
        Cell::text(octets),
    ]
}

/// Returns the name of a status, with its number if the protocol has no name for it.
fn status_name(status: CommandStatus) -> String {
    if status.is_known() {
        status.name().to_owned()
    } else {
        format!("{} {:#x}", status.name(), status.0)
    }
}

/// Returns the time of the day in Lagos with milliseconds.
fn clock_time(at_ms: i64) -> String {
    let time = lagos_time(at_ms);
    let clock = time.get(11..).unwrap_or_default();
    format!("{clock}.{:03}", at_ms.rem_euclid(1_000))
}

fn explained(status: &str) -> &'static str {
    match status {
        ACCEPTED => "the carrier accepted the page",
        "not_sent" => "the connection ended before the submit",
        "unknown" => "the connection ended before the response",
        "other" => "the status is neither of the standard nor of vendors",
        status => meaning(status).unwrap_or("–"),
    }
}
