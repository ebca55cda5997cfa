#!/usr/bin/env bash
# The crate prometheus-parse 0.2.5: a sample is left out, without an error, where the value of a label has a `}`. The route
# of a request with a parameter is such a value. A comma cuts the value, and a `=` takes the whole label away.
#
# Guessed: every value in quotes is read whole.
# Seen:    no sample of {route="/api/v2/delivery-reports/{message_id}"}
# Ogene:   its metrics are in the format of Prometheus, whose own promtool checks them (`./test`). A collector built on this
#          crate does not see `ogene_http_request_seconds` of the delivery reports by id. The configuration permits plain
#          words alone as names of carriers, so no series of a carrier is lost.
#
# Needs cargo and the registry of crates.io. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat >"$work/Cargo.toml" <<'TOML'
[package]
name = "finding"
version = "0.0.0"
edition = "2021"

[dependencies]
prometheus-parse = "=0.2.5"
TOML
cat >"$work/src/main.rs" <<'RUST'
fn main() {
    for value in [
        "/api/v2/sms",
        "/api/v2/delivery-reports/{message_id}",
        "one, two",
        "one=two",
    ] {
        let line = format!("requests_total{{route=\"{value}\",status=\"200\"}} 5");
        let scrape = prometheus_parse::Scrape::parse(std::iter::once(Ok(line))).expect("no error");
        let read = scrape.samples.first().map(|sample| sample.labels.get("route"));
        println!("{value} -> {read:?}");
    }
}
RUST
(cd "$work" && CARGO_TARGET_DIR="$work/target" cargo build --quiet) 2>"$work/log" || { cat "$work/log"; exit 1; }
"$work/target/debug/finding" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the crate reads them otherwise now"; exit 1; }
/api/v2/sms -> Some(Some("/api/v2/sms"))
/api/v2/delivery-reports/{message_id} -> None
one, two -> Some(Some("one"))
one=two -> Some(None)
SEEN
