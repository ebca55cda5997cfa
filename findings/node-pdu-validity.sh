#!/usr/bin/env bash
# npm node-pdu 2.1.1: a relative validity period (3GPP TS 23.040, section 9.2.3.12.1) is read a day short from two days on. The
# code of a day is read as 12.5 days. The code of five weeks is read as one week. Eight weeks are written as 30 weeks. Its
# own periods up to 30 days are written rightly, so it does not read them as it writes them.
#
# Guessed: 8F is read as 12 hours, C4 as 30 days and C5 as five weeks; 56 days are written as C8.
# Seen:    C4 (30 days): read as 696 hours
#          C5 (5 weeks): read as 168 hours
#          56 days: written as DE
# Ogene:   not touched, since its periods are those of SMPP, in digits. Tests of both ways are
#          `the_validity_period_is_relative` and `a_validity_is_counted_from_the_due_time`.
#
# Needs Node with npm and the registry of npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" node-pdu@2.1.1 >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
cat >"$work/finding.js" <<'JS'
const { Submit, parse } = require("node-pdu");

const codes = { "0B": "1 hour", "8F": "12 hours", A7: "1 day", A8: "2 days", AD: "7 days", C4: "30 days", C5: "5 weeks" };
for (const [code, meaning] of Object.entries(codes)) {
  const pdu = parse(`0011000D91328430214365F70000${code}05C8329BFD06`);
  console.log(`${code} (${meaning}): read as ${pdu.validityPeriod.interval / 3600} hours`);
}
for (const days of [1, 2, 7, 30, 35, 56]) {
  const submit = new Submit("+2348031234567", "Hello");
  submit.setValidityPeriod(days * 86400);
  console.log(`${days} days: written as ${submit.toString().slice(-14, -12)}`);
}
JS
node "$work/finding.js" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "node-pdu has other periods now"; exit 1; }
0B (1 hour): read as 1 hours
8F (12 hours): read as 12 hours
A7 (1 day): read as 300 hours
A8 (2 days): read as 24 hours
AD (7 days): read as 144 hours
C4 (30 days): read as 696 hours
C5 (5 weeks): read as 168 hours
1 days: written as A7
2 days: written as A8
7 days: written as AD
30 days: written as C4
35 days: written as C9
56 days: written as DE
SEEN
