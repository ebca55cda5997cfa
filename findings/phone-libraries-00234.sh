#!/usr/bin/env bash
# phonenumbers 9.0.43 and npm libphonenumber-js 1.13.16: with the region NG, a number that begins with 00234 is not valid. Their
# data has 009 alone as the international prefix of Nigeria, so 00 counts as a part of the number. It still is a possible one.
#
# Guessed: +2348031234567, valid, as with the prefix +.
# Seen:    002348031234567: +23402348031234567, valid: no, possible: yes
# Ogene:   00234 is read as +234 (docs/spec/sending.md, section 1): a test is
#          `every_accepted_spelling_is_the_same_recipient`. A client that checks numbers by these libraries loses such a
#          number before the send.
#
# Needs python3 with pip, Node with npm, and the registries of PyPI and npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" phonenumbers==9.0.43
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" libphonenumber-js@1.13.16 \
    >"$work/npm.log" 2>&1 || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.py" <<'PY'
import phonenumbers

for text in ("+2348031234567", "0092348031234567", "002348031234567"):
    number = phonenumbers.parse(text, "NG")
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    valid = "yes" if phonenumbers.is_valid_number(number) else "no"
    possible = "yes" if phonenumbers.is_possible_number(number) else "no"
    print(f"phonenumbers, {text}: {written}, valid: {valid}, possible: {possible}")
PY
cat >"$work/finding.js" <<'JS'
const { parsePhoneNumberFromString } = require("libphonenumber-js/max");
const word = (truth) => (truth ? "yes" : "no");
for (const text of ["+2348031234567", "0092348031234567", "002348031234567"]) {
    const number = parsePhoneNumberFromString(text, "NG");
    const found = `valid: ${word(number.isValid())}, possible: ${word(number.isPossible())}`;
    console.log(`libphonenumber-js, ${text}: ${number.number}, ${found}`);
}
JS
PYTHONPATH="$work/python" python3 "$work/finding.py" | tee "$work/seen"
node "$work/finding.js" | tee -a "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the libraries read it otherwise now"; exit 1; }
phonenumbers, +2348031234567: +2348031234567, valid: yes, possible: yes
phonenumbers, 0092348031234567: +2348031234567, valid: yes, possible: yes
phonenumbers, 002348031234567: +23402348031234567, valid: no, possible: yes
libphonenumber-js, +2348031234567: +2348031234567, valid: yes, possible: yes
libphonenumber-js, 0092348031234567: +2348031234567, valid: yes, possible: yes
libphonenumber-js, 002348031234567: +23402348031234567, valid: no, possible: yes
SEEN
