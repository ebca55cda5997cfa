#!/usr/bin/env bash
# npm vcf 2.1.2 and vcard-parser 1.0.0: the number of a contact is read wrong where a parameter of its line has a colon in
# quotes, as vCard 4.0 permits (RFC 6350, section 3.3). The rest of the parameters becomes a part of the number. npm
# ical.js 2.2.1 reads it right.
#
# Guessed: tel:+2348031234567
# Seen:     Ikeja";TYPE=cell;VALUE=uri:tel:+2348031234567
# Ogene:   it never picks digits out of other text. Such an item is skipped and named in `invalid_recipients`, and so is a
#          `tel:` URI: tests are `any_other_text_than_a_nigerian_mobile_number_is_refused` and
#          `digits_among_letters_are_no_number`.
#
# Needs Node with npm and the registry of npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" vcf@2.1.2 vcard-parser@1.0.0 ical.js@2.2.1 \
    >"$work/npm.log" 2>&1 || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.mjs" <<'JS'
import ICAL from "ical.js";
import parser from "vcard-parser";
import vCard from "vcf";

const card = (tel) => ["BEGIN:VCARD", "VERSION:4.0", "FN:Ada", tel, "END:VCARD", ""].join("\r\n");
for (const [kind, label] of [["plain", "Shop"], ["colon", '"Shop: Ikeja"']]) {
    const text = card(`TEL;LABEL=${label};TYPE=cell;VALUE=uri:tel:+2348031234567`);
    console.log(`ical.js, ${kind}: ${ICAL.parse(text)[1].find(([name]) => name === "tel")[3]}`);
    console.log(`vcf, ${kind}: ${vCard.parse(text)[0].get("tel").valueOf()}`);
    console.log(`vcard-parser, ${kind}: ${[parser.parse(text).tel[0].value].flat().join("|")}`);
}
JS
node "$work/finding.mjs" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the number is read otherwise now"; exit 1; }
ical.js, plain: tel:+2348031234567
vcf, plain: tel:+2348031234567
vcard-parser, plain: tel:+2348031234567
ical.js, colon: tel:+2348031234567
vcf, colon:  Ikeja";TYPE=cell;VALUE=uri:tel:+2348031234567
vcard-parser, colon:  Ikeja"|TYPE=cell|VALUE=uri:tel:+2348031234567
SEEN
