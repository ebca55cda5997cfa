#!/usr/bin/env bash
# npm sms-counter 1.0.0: the signs of the extension table count one, although it names their encoding. A text of 154 `€` is
# one page for it. Its port sms-counter-npm 1.0.4 counts two for each.
#
# Guessed: GSM_7BIT_EX, 308 septets, 3 pages, in both.
# Seen:    sms-counter: GSM_7BIT_EX, 154 septets, 1 pages
# Ogene:   each such sign counts two, for the page and for the price (docs/spec/sending.md, section 3): a test is
#          `pages_are_counted_as_billed`, and the answer of a send has `page_count`.
#
# Needs Node with npm and the registry of npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" sms-counter@1.0.0 sms-counter-npm@1.0.4 \
    >"$work/npm.log" 2>&1 || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.js" <<'JS'
const first = require("sms-counter");
const second = require("sms-counter-npm");
const counters = { "sms-counter": first.default ?? first, "sms-counter-npm": second.default ?? second };
for (const [name, counter] of Object.entries(counters)) {
    const { encoding, length, messages } = counter.count("€".repeat(154));
    console.log(`${name}: ${encoding}, ${length} septets, ${messages} pages`);
}
JS
node "$work/finding.js" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the counts are others now"; exit 1; }
sms-counter: GSM_7BIT_EX, 154 septets, 1 pages
sms-counter-npm: GSM_7BIT_EX, 308 septets, 3 pages
SEEN
