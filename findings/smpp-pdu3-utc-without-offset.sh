#!/usr/bin/env bash
# smpp.pdu3 0.6 (the PDUs of the gateway Jasmin): an absolute time of SMPP whose distance from UTC is 00 is read without any
# distance. Python takes such a time for a local one, so it is an hour wrong in Lagos. Other distances are read right. Each
# time that is read also puts its last sign on the standard output.
#
# Guessed: the same moment, with each distance.
# Seen:    261129093000000+: distance None, -3600 seconds off
# Ogene:   it writes each absolute time with the distance 04 of Lagos: a test is `a_time_of_smpp_names_its_distance_from_utc`.
#          It reads 00 as UTC: a test is `a_due_time_is_absolute_or_relative`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" smpp.pdu3==0.6
cat >"$work/finding.py" <<'PY'
import contextlib
import datetime
import io

from smpp.pdu import smpp_time

for text in ("261129103000004+", "261129093000000+", "261129083000004-"):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        read = smpp_time.parse(text.encode())
    right = datetime.datetime(2026, 11, 29, 9, 30, tzinfo=datetime.timezone.utc).timestamp()
    wrong = int(read.timestamp() - right)
    print(f"{text}: distance {read.utcoffset()}, {wrong} seconds off, output {output.getvalue()!r}")
PY
TZ=WAT-1 PYTHONPATH="$work/python" python3 "$work/finding.py" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "smpp.pdu3 reads other times now"; exit 1; }
261129103000004+: distance 1:00:00, 0 seconds off, output '+\n'
261129093000000+: distance None, -3600 seconds off, output '+\n'
261129083000004-: distance -1 day, 23:00:00, 0 seconds off, output '-\n'
SEEN
