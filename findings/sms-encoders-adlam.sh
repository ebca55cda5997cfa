#!/usr/bin/env bash
# python-gsmmodem-new 0.13.0 and python-messaging 0.5.13: a text in Adlam, in which Fulfulde is written, cannot be sent. The
# letters need two units of UTF-16, in four digits each. The first raises, and the second writes five digits a letter. Both read
# a received text as halves of letters, which Python cannot write in UTF-8.
#
# Guessed: d83add00 d83add23, written and read.
# Seen:    python-messaging writes 1e9001e923
# Ogene:   it writes UTF-16, and a letter of two units counts two: tests are `golden_octets_of_both_alphabets` and
#          `unicode_text_arrives_as_written_and_an_emoji_counts_two`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore --target "$work/python" \
    python-gsmmodem-new==0.13.0 pyserial==3.5 python-messaging==0.5.13 future==1.0.0 six==1.17.0
cat >"$work/finding.py" <<'PY'
from gsmmodem.pdu import decodeSmsPdu, encodeSmsSubmitPdu
from messaging.sms import SmsDeliver, SmsSubmit

TO = "+2348031234567"
for name, text in (("Yoruba", "\u1eb8\u1ecd"), ("Adlam", "\U0001E900\U0001E923")):
    octets = text.encode("utf-16-be").hex()
    received = f"00040D91328430214365F7000862119290030040{len(octets) // 2:02X}{octets.upper()}"
    try:
        written = str(encodeSmsSubmitPdu(TO, text)[0])[-len(octets):].lower()
    except ValueError:
        written = "ValueError"
    print(f"python-gsmmodem-new, {name}: writes {written}, reads {decodeSmsPdu(received)['text']!a}")
    # The header before the text has the same length for both.
    written = SmsSubmit(TO, text).to_pdu()[0].pdu[30:].lower()
    print(f"python-messaging, {name}: writes {written}, reads {SmsDeliver(received).text!a}")
PY
PYTHONPATH="$work/python" python3 -W ignore "$work/finding.py" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the letters are written or read otherwise now"; exit 1; }
python-gsmmodem-new, Yoruba: writes 1eb81ecd, reads '\u1eb8\u1ecd'
python-messaging, Yoruba: writes 1eb81ecd, reads '\u1eb8\u1ecd'
python-gsmmodem-new, Adlam: writes ValueError, reads '\ud83a\udd00\ud83a\udd23'
python-messaging, Adlam: writes 1e9001e923, reads '\ud83a\udd00\ud83a\udd23'
SEEN
