//! The service with a low limit on open files.

use crate::customer::{Client, Customer, wait_until};
use crate::installation::Installation;
use crate::process::Process;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const SILENT: usize = 300;

/// Counts the callbacks that arrive, and answers them.
fn receiver() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // The whole call is in one packet.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (url, count)
}

#[test]
fn silent_connections_leave_file_descriptors_to_others() {
    let ogene = Installation::new();
    let carrier = TcpListener::bind("127.0.0.1:0").expect("a port");
    let carrier_address = carrier.local_addr().expect("an address").to_string();
    // No connection is bound until the simulator listens there.
    drop(carrier);
    ogene.configure(&format!(
        "[callbacks]\nallow_private_targets = true\n\
         [carriers.mtn]\naddress = \"{carrier_address}\"\nsystem_id = \"ogene\"\npassword = \"p\"\n\
         [gateways.direct-refund]\ncarriers = [\"mtn\"]\n"
    ));
    let customer = Customer::new(&ogene, "100");
    let serve = ogene.command(&["serve"]);
    let mut limited = Command::new("/bin/sh");
    limited
        .current_dir(ogene.path())
        .env_clear()
        .args(["-c", "ulimit -n 256 && exec \"$0\" serve"])
        .arg(serve.get_program());
    let mut process = Process::start(limited);
    let lines = process.lines_until("http.address");
    let told = lines.iter().filter(|line| line.contains("files.needed"));
    assert_eq!(told.count(), 1, "what is lowered is logged once: {lines:?}");
    let last = lines.last().and_then(|line| line.split("http://").nth(1));
    let end = |c: char| !(c.is_ascii_digit() || c == '.' || c == ':');
    let address = last
        .and_then(|rest| rest.split(end).next())
        .expect("an address");

    let connect = |_| TcpStream::connect(address).expect("it listens");
    let silent: Vec<TcpStream> = (0..SILENT).map(connect).collect();
    let _carrier = Process::start(ogene.command(&["smsc", "--listen", &carrier_address]));
    process.line_with("carrier: bound");
    let (url, called) = receiver();
    let mut client = Client::new(address, &customer.token);
    let answer = client
        .send(&[2_348_031_234_567], Some(&url))
        .expect("an answer");
    assert_eq!(answer.status, 200, "{answer:?}");
    wait_until("the callback has come", || {
        called.load(Ordering::Relaxed) == 1
    });
    drop(silent);
    process.signal("TERM");
    assert_eq!(process.end().0.code(), Some(0));
}
