#!/usr/bin/env bash
# smssafe 0.0.1, npm remove-accents 0.5.0 and @sindresorhus/transliterate 2.3.1: the hooked letters of Hausa have no plain
# equivalent. smssafe drops them, which changes the words. The other two leave them, so the text stays Unicode, at 70 signs a
# page. The dotted letters of Yoruba and Igbo become plain in all three.
#
# Guessed: Dan kauye ya sayi bera
# Seen:    smssafe: an auye ya sayi era
# Ogene:   it makes all of them plain, and names each change: tests are `unicode_false_makes_characters_plain` and
#          `every_latin_letter_has_a_plain_equivalent`.
#
# Needs python3 with pip, Node with npm, and the registries of PyPI and npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" smssafe==0.0.1
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" remove-accents@0.5.0 \
    @sindresorhus/transliterate@2.3.1 >"$work/npm.log" 2>&1 || { cat "$work/npm.log"; exit 1; }
cat >"$work/finding.py" <<'PY'
from smssafe import sanitize

for text in ("Ọjà ilé, ụlọ", "Ɗan ƙauye ya sayi ɓera"):
    print(f"smssafe: {sanitize(text).sanitized}")
PY
cat >"$work/finding.mjs" <<'JS'
import transliterate from "@sindresorhus/transliterate";
import removeAccents from "remove-accents";

for (const text of ["Ọjà ilé, ụlọ", "Ɗan ƙauye ya sayi ɓera"]) {
    console.log(`remove-accents: ${removeAccents(text)}`);
    console.log(`transliterate: ${transliterate(text)}`);
}
JS
PYTHONPATH="$work/python" PYTHONIOENCODING=utf-8 python3 "$work/finding.py" | tee "$work/seen"
node "$work/finding.mjs" | tee -a "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the letters become others now"; exit 1; }
smssafe: Ojà ilé, ulo
smssafe: an auye ya sayi era
remove-accents: Oja ile, ulo
transliterate: Oja ile, ulo
remove-accents: Ɗan ƙauye ya sayi ɓera
transliterate: Ɗan ƙauye ya sayi ɓera
SEEN
