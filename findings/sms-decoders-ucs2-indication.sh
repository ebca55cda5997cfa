#!/usr/bin/env bash
# node-pdu 2.1.1, python-messaging 0.5.13 and python-gsmmodem-new 0.13.0: a text in UCS-2 with the data coding E0, the
# message waiting group that says so (3GPP TS 23.038, section 4), is read as septets. pdusms 1.0 reads it.
#
# Guessed: Ẹ kú ọjọ́, as with the data coding 08.
# Seen:    three other texts, without an error
# Ogene:   it sends 0 and 8 alone, and reads a receipt by its octets, whatever its data coding is: a test is
#          `the_text_is_read_in_any_alphabet`.
#
# Needs python3 with pip, Node with npm, and the registries of PyPI and npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore --target "$work/python" \
    python-gsmmodem-new==0.13.0 pyserial==3.5 python-messaging==0.5.13 future==1.0.0 six==1.17.0 pdusms==1.0
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" node-pdu@2.1.1 >"$work/npm.log" 2>&1 \
    || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.py" <<'PY'
from gsmmodem.pdu import decodeSmsPdu
from messaging.sms import SmsDeliver
from smspdu.pdu import SMS_DELIVER

for coding in ("08", "E0"):
    pdu = f"00040D91328430214365F700{coding}62119290030040121EB80020006B00FA00201ECD006A1ECD0301"
    print(f"python-messaging, {coding}: {SmsDeliver(pdu).text!a}")
    print(f"python-gsmmodem-new, {coding}: {decodeSmsPdu(pdu)['text']!a}")
    print(f"pdusms, {coding}: {SMS_DELIVER.fromPDU(pdu[2:], 'finding').user_data!a}")
PY
cat >"$work/finding.js" <<'JS'
const { parse } = require("node-pdu");
for (const coding of ["08", "E0"]) {
    const pdu = `00040D91328430214365F700${coding}62119290030040121EB80020006B00FA00201ECD006A1ECD0301`;
    const text = parse(pdu).data.getText();
    console.log(`node-pdu, ${coding}: ${text === "Ẹ kú ọjọ\u0301" ? "the text" : "another text"}`);
}
JS
PYTHONPATH="$work/python" python3 -W ignore "$work/finding.py" | tee "$work/all"
node "$work/finding.js" | tee -a "$work/all"
sed "s/'.u1eb8 k.xfa .u1ecdj.u1ecd.u0301'/the text/; s/'.*'/another text/" "$work/all" >"$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "a decoder reads it otherwise now"; exit 1; }
python-messaging, 08: the text
python-gsmmodem-new, 08: the text
pdusms, 08: the text
python-messaging, E0: another text
python-gsmmodem-new, E0: another text
pdusms, E0: the text
node-pdu, 08: the text
node-pdu, E0: another text
SEEN
