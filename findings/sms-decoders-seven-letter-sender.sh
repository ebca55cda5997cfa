#!/usr/bin/env bash
# python-messaging 0.5.13 and smspdudecoder 2.2.0: a sender of seven letters has an `@` behind it. Seven septets leave seven
# bits of their last octet unused, and the decoders read these as the septet 0; the length of the address counts them not.
#
# Guessed: AdaFood
# Seen:    AdaFood@
# Ogene:   it hands a sender to the carrier in ASCII, with the NUL of SMPP and without a fill: a test of the octets is
#          `a_submit_sm_has_these_octets`. A registered sender never has an `@` (docs/spec/interface.md, section 8).
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore --target "$work/python" \
    python-messaging==0.5.13 future==1.0.0 six==1.17.0 smspdudecoder==2.2.0 bitstring==4.3.1 bitarray==3.7.2 pytz==2026.6
cat >"$work/finding.py" <<'PY'
from messaging.sms import SmsDeliver
from smspdudecoder.easy import read_incoming_sms

for letters, pdu in (
    (7, "00040DD04172D8F87E930100006211929003004005C8329BFD06"),
    (8, "00040ED04172D8F87E93E700006211929003004005C8329BFD06"),
):
    print(f"python-messaging, {letters} letters: {SmsDeliver(pdu).number}")
    print(f"smspdudecoder, {letters} letters: {read_incoming_sms(pdu)['sender']}")
PY
PYTHONPATH="$work/python" python3 -W ignore "$work/finding.py" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "a decoder reads it otherwise now"; exit 1; }
python-messaging, 7 letters: AdaFood@
smspdudecoder, 7 letters: AdaFood@
python-messaging, 8 letters: AdaFoods
smspdudecoder, 8 letters: AdaFoods
SEEN
