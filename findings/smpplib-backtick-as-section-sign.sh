#!/usr/bin/env bash
# smpplib 2.2.4, gsm.make_parts: a backtick goes out in the default alphabet as the octet 5F, which is `§` there (3GPP TS
# 23.038, section 6.2.1). The sign `§` itself counts as unknown, so its whole text goes out in UCS-2.
#
# Guessed: the backtick, which the alphabet has not, in UCS-2, and § as 5F.
# Seen:    `: data coding 0, 5f
#          §: data coding 8, 00a7
# Ogene:   `§` is the septet 5F, and a backtick becomes an apostrophe: tests are `the_alphabet_is_that_of_the_standard` and
#          `unicode_false_makes_characters_plain`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" smpplib==2.2.4
cat >"$work/finding.py" <<'PY'
from smpplib.gsm import make_parts

for sign in "¿_`§":
    (octets,), coding, _ = make_parts(sign)
    print(f"{sign}: data coding {coding}, {octets.hex()}")
PY
PYTHONPATH="$work/python" PYTHONIOENCODING=utf-8 python3 "$work/finding.py" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "smpplib writes it otherwise now"; exit 1; }
¿: data coding 0, 60
_: data coding 0, 11
`: data coding 0, 5f
§: data coding 8, 00a7
SEEN
