//! The code of a one-time password is in no database, log, backup or export.

use crate::customer::{Client, Customer, wait_until};
use crate::installation::Installation;
use serde_json::{Value, json};
use smpp::simulator::{Script, Smsc};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use tokio::runtime::Runtime;

const NUMBER: &str = "2348031234567";
/// Long codes, so that no other digits are equal by chance.
const LENGTH: usize = 10;
/// The commands that print what is known of messages.
const COMMANDS: [&str; 7] = [
    "message list",
    "message list --sandbox",
    "export recipients",
    "export recipients --sandbox",
    "usage --by day",
    "audit",
    "callback dead",
];

/// A service whose log is a file, with all that it can log.
struct Site {
    ogene: Installation,
    customer: Customer,
    service: Child,
    smsc: Smsc,
    _runtime: Runtime,
}

impl Site {
    fn start() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let script = Script {
            record: 100,
            ..Script::default()
        };
        let smsc = runtime.block_on(Smsc::start(script)).expect("started");
        let ogene = Installation::embedded();
        ogene.configure(&format!(
            "[log]\nlevel = \"trace\"\n\
             [carriers.mtn]\naddress = \"{}\"\nsystem_id = \"ogene\"\npassword = \"secret\"\n\
             [gateways.otp]\ncarriers = [\"mtn\"]\nprice = \"6.00\"\n",
            smsc.address(),
        ));
        let customer = Customer::new(&ogene, "100.00");
        let log = File::create(ogene.path().join("log")).expect("a file");
        let service = ogene
            .command(&["serve"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        Self {
            ogene,
            customer,
            service: service.expect("it starts"),
            smsc,
            _runtime: runtime,
        }
    }

    fn client(&self) -> Client {
        let mut address = None;
        wait_until("it serves", || {
            let log = fs::read_to_string(self.ogene.path().join("log")).unwrap_or_default();
            let found = log.split_once("http://").and_then(|(_, rest)| {
                let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':'))?;
                Some(rest[..end].to_owned())
            });
            address = found;
            address.is_some()
        });
        Client::new(&address.expect("an address"), &self.customer.token)
    }

    /// Returns the codes that the phone received.
    fn codes(&self) -> Vec<String> {
        let received = self.smsc.received().into_iter();
        let texts = received.map(|one| one.submit.short_message.to_vec());
        texts
            .map(|text| String::from_utf8_lossy(&text[..LENGTH]).into_owned())
            .collect()
    }

    /// Writes what the commands print into a file each.
    fn print(&self) {
        for (place, command) in COMMANDS.iter().enumerate() {
            let words: Vec<&str> = command.split(' ').collect();
            let output = self.ogene.run(&words);
            assert!(output.status.success(), "{command}");
            let file = self.ogene.path().join(format!("{place}.printed"));
            fs::write(file, output.stdout).expect("written");
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // The process has ended already if the test ended it.
        let _ = self.service.kill();
        let _ = self.service.wait();
    }
}

fn asked(client: &mut Client, line: &str, body: &Value) -> Value {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = client.request(line, &body).expect("an answer");
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["data"].clone()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn no_database_log_backup_or_export_has_a_code() {
    let mut site = Site::start();
    let mut client = site.client();
    let fields = json!({"to": NUMBER, "from": "AdaFoods", "length": LENGTH});
    let made = asked(&mut client, "POST /api/v2/otp", &fields);
    let id = made["otp_id"].as_str().expect("an id");
    let sandbox = asked(&mut client, "POST /api/sandbox/v2/otp", &fields);
    wait_until("the code is on the phone", || !site.codes().is_empty());
    let mut codes = site.codes();
    codes.push(sandbox["code"].as_str().expect("a code").to_owned());
    // A wrong attempt, the right one, and what the customer can read.
    let verify = format!("POST /api/v2/otp/{id}/verify");
    asked(&mut client, &verify, &json!({"code": "0".repeat(LENGTH)}));
    let verified = asked(&mut client, &verify, &json!({ "code": codes[0] }));
    assert_eq!(verified["verified"], true);
    let message = made["message_id"].as_str().expect("an id");
    wait_until("it is delivered", || {
        let summary = client.summary(message).expect("a report");
        summary["delivered"] == 1
    });
    for path in [
        format!("otp/{id}"),
        "messages".to_owned(),
        format!("messages/{message}"),
        format!("messages/{message}/recipients/{NUMBER}"),
    ] {
        let data = asked(&mut client, &format!("GET /api/v2/{path}"), &Value::Null);
        assert!(!data.to_string().contains(&codes[0]), "{path}");
    }
    site.ogene.json(&["backup", "backup.db"]);
    site.print();
    let shown = site
        .ogene
        .run(&["message", "show", "--message-id", message]);
    let printed = String::from_utf8_lossy(&shown.stdout);
    assert!(printed.contains("stat:DELIVRD"), "a receipt: {printed}");
    fs::write(site.ogene.path().join("show.printed"), shown.stdout).expect("written");
    site.service.kill().expect("killed");
    site.service.wait().expect("ended");
    let files = files(site.ogene.path());
    for name in ["log", "backup.db", "ogene.db", "2.printed", "show.printed"] {
        let found = files.iter().any(|file| file.ends_with(name));
        assert!(found, "{name} is among {files:?}");
    }
    let mut has_number = 0;
    for file in files {
        let octets = fs::read(&file).expect("read");
        let has = |text: &str| {
            let mut windows = octets.windows(text.len());
            windows.any(|part| part == text.as_bytes())
        };
        for code in &codes {
            assert!(!has(code), "{}", file.display());
        }
        has_number += usize::from(has(NUMBER));
    }
    assert!(has_number > 0, "the search finds what is there");
}
