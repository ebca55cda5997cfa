#!/usr/bin/env bash
# PyPI uuid7 0.1.0: the moment that it reads from a version 7 UUID of RFC 9562 is more than 40 years wrong. It reads the
# layout of an early draft, with 36 bits of seconds in place of 48 bits of milliseconds, and shows no error.
#
# Guessed: 2026-11-29 08:30:00, as the field of milliseconds says.
# Seen:    1983, for an id of 2026
# Ogene:   a message_id is a UUID of version 7 after RFC 9562: a test of its bits is
#          `a_message_id_is_a_version_7_uuid_that_knows_its_time`. A client takes no times from it, since the interface
#          promises none.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" uuid7==0.1.0 uuid-utils==1.2.0
cat >"$work/finding.py" <<'PY'
from datetime import datetime, timezone
from uuid_extensions import uuid_to_datetime
from uuid_utils import UUID

moment = datetime(2026, 11, 29, 8, 30, tzinfo=timezone.utc)
bits = int(moment.timestamp() * 1000) << 80 | 7 << 76 | 0xABC << 64 | 2 << 62 | 0x123456789AB
text = str(UUID(int=bits))
print("uuid-utils:", datetime.fromtimestamp(UUID(text).timestamp / 1000, timezone.utc))
print("uuid7:", uuid_to_datetime(text).year)
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the moments are others now"; exit 1; }
uuid-utils: 2026-11-29 08:30:00+00:00
uuid7: 1983
SEEN
