#!/usr/bin/env bash
# aiosmpplib 0.7.4: an absolute time (SMPP 3.4, section 7.1.1) is read as one of the year 26, and its offset as whole hours,
# where it counts quarters of an hour. The library writes it right, so it does not read its own times.
#
# Guessed: 2026-11-29 09:30:00+01:00
# Seen:    0026-11-29 09:30:00+04:00
# Ogene:   it sends a relative validity_period and no time of delivery, since it waits itself: tests are
#          `the_validity_period_is_relative` and `a_scheduled_message_is_charged_now_and_sent_at_its_time`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" aiosmpplib==0.7.4
cat >"$work/finding.py" <<'PY'
from datetime import datetime, timedelta, timezone

from aiosmpplib import SubmitSm

moment = datetime(2026, 11, 29, 9, 30, tzinfo=timezone(timedelta(hours=1)))
written = SubmitSm.datetime_to_smpp_time(moment)
print(f"{moment} -> {written} -> {SubmitSm.smpp_time_to_datetime(written)}")
print(f"000007000000000R -> {SubmitSm.smpp_time_to_datetime('000007000000000R')}")
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the times are read otherwise now"; exit 1; }
2026-11-29 09:30:00+01:00 -> 261129093000004+ -> 0026-11-29 09:30:00+04:00
000007000000000R -> 7 days, 0:00:00
SEEN
