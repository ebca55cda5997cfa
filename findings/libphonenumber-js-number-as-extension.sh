#!/usr/bin/env bash
# npm libphonenumber-js 1.13.16, findPhoneNumbersInText: of numbers that are joined by commas or semicolons, the second is read
# as the extension of the first. After a comma it loses two digits, and the numbers behind it are not found. phonenumbers 9.0.43
# finds all.
#
# Guessed: three numbers, as with a slash.
# Seen:    comma: +2348031234567 with the extension 080512345
# Ogene:   a comma is what separates the recipients of a send (docs/spec/interface.md), and each item of the list is one number
#          or invalid: tests are `duplicates_are_removed_and_the_order_is_kept` and `digits_among_letters_are_no_number`.
#
# Needs python3 with pip, Node with npm, and the registries of PyPI and npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" phonenumbers==9.0.43
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" libphonenumber-js@1.13.16 \
    >"$work/npm.log" 2>&1 || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.js" <<'JS'
const { findPhoneNumbersInText } = require("libphonenumber-js/max");
for (const [name, sign] of [["slash", "/"], ["comma", ","], ["semicolon", ";"]]) {
    const found = findPhoneNumbersInText(["08031234567", "08051234567", "08071234567"].join(sign), "NG");
    const shown = found.map(({ number }) => number.number + (number.ext ? ` with the extension ${number.ext}` : ""));
    console.log(`libphonenumber-js, ${name}: ${shown.join(" ")}`);
}
JS
cat >"$work/finding.py" <<'PY'
import phonenumbers

for name, sign in (("slash", "/"), ("comma", ","), ("semicolon", ";")):
    text = sign.join(("08031234567", "08051234567", "08071234567"))
    found = [match.raw_string for match in phonenumbers.PhoneNumberMatcher(text, "NG")]
    print(f"phonenumbers, {name}: {' '.join(found)}")
PY
node "$work/finding.js" | tee "$work/seen"
PYTHONPATH="$work/python" python3 "$work/finding.py" | tee -a "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the libraries find other numbers now"; exit 1; }
libphonenumber-js, slash: +2348031234567 +2348051234567 +2348071234567
libphonenumber-js, comma: +2348031234567 with the extension 080512345
libphonenumber-js, semicolon: +2348031234567 with the extension 08051234567 +2348071234567
phonenumbers, slash: 08031234567 08051234567 08071234567
phonenumbers, comma: 08031234567 08051234567 08071234567
phonenumbers, semicolon: 08031234567 08051234567 08071234567
SEEN
