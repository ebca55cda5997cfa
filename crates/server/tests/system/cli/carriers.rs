//! `ogene carrier test` as an operator runs it.

use crate::installation::Installation;
use serde_json::json;
use smpp::simulator::{Script, Smsc};
use tokio::runtime::Runtime;

const NUMBER: &str = "2348031234567";

#[test]
fn a_carrier_is_tested_before_the_service_starts() {
    let runtime = Runtime::new().expect("a runtime");
    let smsc = runtime.block_on(Smsc::start(Script::default()));
    let smsc = smsc.expect("a simulator");
    let ogene = Installation::new();
    ogene.configure(&format!(
        "[carriers.mtn]\naddress = \"{}\"\nsystem_id = \"ogene\"\npassword = \"secret\"\n",
        smsc.address()
    ));
    assert!(ogene.run(&["migrate"]).status.success());
    let arguments = ["carrier", "test", "mtn", "--to", NUMBER, "--wait", "30s"];
    let tested = ogene.json(&arguments);
    assert_eq!(tested["accepted"], true, "{tested}");
    assert_eq!(tested["delivery_status"], "delivrd", "{tested}");
    let steps = tested["steps"].as_array().expect("a list");
    let steps: Vec<_> = steps.iter().map(|step| &step["step"]).collect();
    assert_eq!(steps, ["bound", "submitted", "response", "receipt"]);
    let output = ogene.run(&arguments);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(lines[0].contains(" s  bound "), "{text}");
    assert_eq!(lines[4], "The carrier accepted the message: delivrd.");
    ogene.json(&["carrier", "pause", "mtn"]);
    let (code, error) = ogene.failure(&arguments);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("the carrier `mtn` is paused"), "{error}");
    let entries = ogene.rows(&["audit"]);
    let entered = entries
        .iter()
        .filter(|entry| entry["what"] == "carrier.test");
    let entered: Vec<_> = entered.collect();
    assert_eq!(entered.len(), 2, "{entries:?}");
    assert_eq!(entered[0]["after"], json!({ "recipient": "234803123****" }));
}
