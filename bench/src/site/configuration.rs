//! The configuration of the service: the defaults, except for the subject of a scenario.

use super::setup::{Protocol, Setup};
use crate::database::Database;
use crate::http_sink;
use crate::machine::unix_time;
use std::fmt::Write;
use std::net::SocketAddr;

/// The gateway of every message that names none.
const GATEWAY: &str = "direct-refund";
/// The default limits, which exceed every load.
pub(crate) const LIMITS: &str = "sends_per_minute = 1000000\nreports_per_minute = 1000000\n\
     reads_per_minute = 1000000\nmax_recipients = 100000\n";
/// The gateway of one-time passwords.
pub(crate) const OTP: &str = "otp";
/// A gateway whose messages are held, because its quiet hours are now.
pub(crate) const HELD: &str = "direct-corporate";
/// The name of the only carrier, or of the first one.
pub(crate) const FIRST_CARRIER: &str = "bench";
/// Digits of a prefix, each of which is a network of its own in a site with many carriers.
const PREFIXES: std::ops::Range<usize> = 8_010..8_100;
const HOUR_S: u64 = 3_600;

/// Returns the text of `ogene.toml`.
pub(super) fn text(setup: &Setup, database: &Database, smsc: SocketAddr) -> String {
    let mut text = format!(
        "{}
[limits]
{}[callbacks]
allow_private_targets = true
",
        database.configuration(),
        setup.limits
    );
    if let Some(most) = setup.smpp_connections {
        // Writing to a string does not fail.
        let _ = writeln!(text, "[smpp_server]\nmax_connections = {most}");
    }
    text += &setup.sections;
    text += &match setup.protocol {
        Protocol::Smpp => (0..setup.carriers)
            .map(|carrier| smpp(setup, carrier, smsc))
            .collect(),
        Protocol::Http => http_sink::configuration(&name(0), smsc),
    };
    let carriers = match setup.carriers {
        1 => format!("[\"{}\"]", name(0)),
        several => {
            text += &networks(several);
            by_network(several)
        }
    };
    for (gateway, more) in [
        (GATEWAY, setup.gateway.to_owned()),
        (OTP, String::new()),
        (HELD, quiet_hours()),
    ] {
        let _ = write!(
            text,
            "[gateways.{gateway}]\ncarriers = {carriers}\nprice = \"6.00\"\n{more}"
        );
    }
    text
}

fn smpp(setup: &Setup, carrier: usize, smsc: SocketAddr) -> String {
    let (name, binds, window) = (name(carrier), setup.binds, setup.window);
    let pace = setup
        .max_per_second
        .map(|most| format!("max_per_second = {most}\n"));
    format!(
        "[carriers.{name}]\naddress = \"{smsc}\"\nsystem_id = \"{name}\"\npassword = \"bench\"\n\
         binds = {binds}\nwindow = {window}\n{}",
        pace.unwrap_or_default()
    )
}

fn name(carrier: usize) -> String {
    match carrier {
        0 => FIRST_CARRIER.to_owned(),
        later => format!("bench-{}", later + 1),
    }
}

/// Returns the numbers of the load, shared evenly by so many networks.
fn networks(carriers: usize) -> String {
    let mut text = "[networks]\n".to_owned();
    for carrier in 0..carriers {
        let prefixes: Vec<_> = PREFIXES
            .skip(carrier)
            .step_by(carriers)
            .map(|prefix| format!("\"0{prefix}\""))
            .collect();
        let _ = writeln!(text, "net{carrier} = [{}]", prefixes.join(", "));
    }
    text
}

/// Returns a carrier for each network.
fn by_network(carriers: usize) -> String {
    let each: Vec<_> = (0..carriers)
        .map(|carrier| format!("net{carrier} = [\"{}\"]", name(carrier)))
        .collect();
    format!("{{ default = [\"{}\"], {} }}", name(0), each.join(", "))
}

/// Returns quiet hours from an hour ago until many hours from now, in Lagos, which is an hour ahead
/// of UTC.
fn quiet_hours() -> String {
    let lagos = unix_time().as_secs() / HOUR_S + 1;
    let (from, until) = ((lagos + 23) % 24, (lagos + 12) % 24);
    format!("quiet_hours = \"{from:02}:00-{until:02}:00\"\n")
}
