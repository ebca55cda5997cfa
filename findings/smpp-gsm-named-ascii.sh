#!/usr/bin/env bash
# npm smpp 0.5.1: a text without a data_coding goes out with the data coding 1, which is ASCII (SMPP 3.4, section 5.2.19), but
# in the octets of GSM 03.38. A reader that believes the data coding sees control characters for `_`, `@` and `$`.
#
# Guessed: the data coding 0, or the octets of ASCII.
# Seen:    order_7@AdaFoods: data_coding 1, 6f72646572113700416461466f6f6473
# Ogene:   it reads a receipt by its octets, whatever its data coding is, and the `_` of both alphabets is one: tests are
#          `a_gsm_underscore_equals_an_ascii_one` and `the_text_is_read_in_any_alphabet`.
#
# Needs Node with npm and the registry of npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" smpp@0.5.1 iconv-lite@0.6.3 safer-buffer@2.1.2 \
    >"$work/npm.log" 2>&1 || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.js" <<'JS'
const { PDU } = require("smpp");
for (const text of ["order 7", "order_7@AdaFoods", "$5"]) {
    const pdu = new PDU("deliver_sm", { source_addr: "2348031234567", destination_addr: "32811", short_message: text });
    const octets = pdu.toBuffer().subarray(-text.length).toString("hex");
    console.log(`${text}: data_coding ${pdu.data_coding}, ${octets}`);
}
JS
node "$work/finding.js" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "smpp writes it otherwise now"; exit 1; }
order 7: data_coding 1, 6f726465722037
order_7@AdaFoods: data_coding 1, 6f72646572113700416461466f6f6473
$5: data_coding 1, 0235
SEEN
