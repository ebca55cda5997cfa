#!/usr/bin/env bash
# csvkit 2.2.0, csvsort: sorting a file of phone numbers takes the leading zero from every one of them. The column is read as
# numbers, and written so again; a file with a single other spelling in it keeps all zeros.
#
# Guessed: the same lines in another order.
# Seen:    8031234567 for 08031234567
# Ogene:   ten digits that begin with 7, 8 or 9 are the same recipient as with the zero (docs/spec/sending.md, section 1): a
#          test is `every_accepted_spelling_is_the_same_recipient`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check csvkit==2.2.0 agate==1.14.2 agate-excel==0.4.2 \
    agate-dbf==0.2.4 agate-sql==0.7.3
printf '%s\n' to 08051234567 08031234567 >"$work/zeros.csv"
printf '%s\n' to 08051234567 '0803 123 4567' >"$work/mixed.csv"
for file in zeros mixed; do
    echo "$file: $("$work/venv/bin/csvsort" --columns to "$work/$file.csv" 2>"$work/log" | paste -sd ' ')"
done | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "csvsort writes other lines now"; exit 1; }
zeros: to 8031234567 8051234567
mixed: to 0803 123 4567 08051234567
SEEN
