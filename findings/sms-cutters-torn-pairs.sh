#!/usr/bin/env bash
# smpplib 2.2.4 and node-pdu 2.1.1: a page ends in the middle of a letter. smpplib cuts between the escape and the septet of
# a `€`, and both cut between the two units of a letter of Adlam, in which Fulfulde is written. The pages would be as many if
# the pairs stayed whole.
#
# Guessed: the pair goes to the next page whole, as sms-counter-npm counts.
# Seen:    smpplib, €: 2 pages, the first ends with 611b
# Ogene:   it cuts a pair only where a page more would be sent than is billed: tests are
#          `an_escape_pair_is_not_split_if_the_next_page_has_space` and
#          `pages_match_the_billed_count_and_split_fewest_pairs`.
#
# Needs python3 with pip, Node with npm, and the registries of PyPI and npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" smpplib==2.2.4
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" node-pdu@2.1.1 >"$work/npm.log" 2>&1 \
    || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.py" <<'PY'
from smpplib.gsm import make_parts

for name, text in (("€", "a" * 152 + "€" + "a" * 10), ("Adlam", "\U0001E900" * 70)):
    pages, _, _ = make_parts(text)
    print(f"smpplib, {name}: {len(pages)} pages, the first ends with {pages[0][-2:].hex()}")
PY
cat >"$work/finding.js" <<'JS'
const { Submit } = require("node-pdu");
const pages = new Submit("+2348031234567", "\u{1E900}".repeat(70)).getPartStrings();
console.log(`node-pdu, Adlam: ${pages.length} pages, the first ends with ${pages[0].slice(-4).toLowerCase()}`);
JS
PYTHONPATH="$work/python" PYTHONIOENCODING=utf-8 python3 "$work/finding.py" | tee "$work/seen"
node "$work/finding.js" | tee -a "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the pages end otherwise now"; exit 1; }
smpplib, €: 2 pages, the first ends with 611b
smpplib, Adlam: 3 pages, the first ends with d83a
node-pdu, Adlam: 3 pages, the first ends with d83a
SEEN
