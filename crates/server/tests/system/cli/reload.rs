//! A running service reads its configuration again.

use crate::installation::Installation;
use crate::process::Process;
use std::net::TcpListener;

/// A carrier without an SMSC, and a gateway over it.
fn carrier(port: u16, price: &str) -> String {
    format!(
        "[carriers.mtn]\naddress = \"127.0.0.1:{port}\"\nsystem_id = \"o\"\npassword = \"p\"\n\
         [gateways.direct-refund]\ncarriers = [\"mtn\"]\nprice = \"{price}\"\n"
    )
}

/// A port that is in use, so that no SMSC answers there.
fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

#[test]
fn sighup_reloads_the_configuration_and_keeps_serving() {
    let ogene = Installation::new();
    let (_listener, port) = silent();
    ogene.configure(&carrier(port, "6.00"));
    let (mut serving, address) = Process::serve(ogene.command(&["serve"]));
    serving.signal("HUP");
    let line = serving.line_with("configuration: reloaded");
    assert!(
        line.contains("SIGHUP") && line.contains("ogene.toml"),
        "{line}"
    );

    ogene.configure(&(carrier(port, "7.00") + "[limits]\nmax_recipient = 5\n"));
    serving.signal("HUP");
    let line = serving.line_with("not reloaded");
    assert!(line.contains("limits.max_recipient"), "{line}");

    let more = "[callbacks]\nconcurrency = 7\n[log]\nlevel = \"debug\"\n";
    ogene.configure(&(carrier(port, "7.00").replace("mtn", "glo") + more));
    serving.signal("HUP");
    let lines = serving.lines_until("configuration: reloaded");
    for key in ["callbacks", "log"] {
        let is_named = |line: &String| line.contains("restart") && line.contains(key);
        assert!(lines.iter().any(is_named), "{key}: {lines:?}");
    }
    let last = lines.last().expect("a line");
    assert!(last.contains("glo") && last.contains("mtn"), "{last}");
    std::net::TcpStream::connect(address).expect("it serves");
    serving.signal("TERM");
    assert!(serving.end().0.success());
}

#[test]
fn the_document_of_the_api_follows_the_configuration() {
    let ogene = Installation::new();
    let (_listener, port) = silent();
    ogene.configure(&carrier(port, "6.00"));
    let (mut serving, address) = Process::serve(ogene.command(&["serve"]));
    let price = || {
        let mut stream = std::net::TcpStream::connect(&address).expect("it serves");
        let request = b"GET /openapi.json HTTP/1.0\r\n\r\n";
        std::io::Write::write_all(&mut stream, request).expect("written");
        let answer = std::io::read_to_string(stream).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        let document: serde_json::Value = serde_json::from_str(body).expect("JSON");
        document["x-installation"]["gateways"][0]["price"].clone()
    };
    assert_eq!(price(), "6.00");
    ogene.configure(&carrier(port, "7.25"));
    serving.signal("HUP");
    serving.line_with("configuration: reloaded");
    assert_eq!(price(), "7.25");
    serving.signal("TERM");
    assert!(serving.end().0.success());
}

#[test]
fn config_reload_asks_the_running_service_and_is_audited() {
    let ogene = Installation::new();
    let (_listener, port) = silent();
    ogene.configure(&carrier(port, "6.00"));
    ogene.json(&["migrate"]);
    let (mut serving, _) = Process::serve(ogene.command(&["serve"]));
    let asked = ogene.json(&["config", "reload"]);
    assert_eq!(asked["asked"], 1);
    let line = serving.line_with("configuration: reloaded");
    assert!(line.contains("ogene config reload"), "{line}");
    let audit = ogene.rows(&["audit", "--limit", "1"]);
    assert_eq!(audit[0]["what"], "config.reload");
    assert!(
        audit[0]["who"]
            .as_str()
            .is_some_and(|who| who.starts_with("cli:"))
    );

    // The command reports a fault at once, and asks no node.
    ogene.configure("[limits]\nmax_recipient = 5\n");
    assert_eq!(ogene.run(&["config", "reload"]).status.code(), Some(2));
    ogene.configure(&carrier(port, "6.00"));
    assert_eq!(ogene.json(&["config", "reload"])["asked"], 2);
    let between = serving.lines_until("configuration: reloaded");
    assert!(
        !between.iter().any(|line| line.contains("not reloaded")),
        "{between:?}"
    );
    serving.signal("TERM");
    assert!(serving.end().0.success());
}

#[test]
fn a_closed_shell_ends_the_demo_in_order() {
    let ogene = Installation::embedded();
    let mut demo = Process::start(ogene.command(&["demo", "--listen", "127.0.0.1:0", "--json"]));
    demo.output_until("}");
    demo.signal("HUP");
    assert!(demo.end().0.success());
}
