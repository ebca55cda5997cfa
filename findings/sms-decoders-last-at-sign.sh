#!/usr/bin/env bash
# python-gsmmodem-new 0.13.0, pdusms 1.0 and Net::SMPP 1.19: an `@` at the end is lost where a text fills eight septets, or
# sixteen, and so on. Its code is 0, and the decoders take its seven bits for the unused end of the last octet, although
# the length of the text counts it.
#
# Guessed: Call me@
# Seen:    Call me, and of nine septets all: Call me @
# Ogene:   it packs nothing, since a page has one septet in an octet. The octet 0 of such an `@` is sent and counted: tests
#          are `golden_octets_of_both_alphabets` and `an_at_sign_at_the_end_of_a_text_is_sent`.
#
# Needs python3 with pip, Perl, apt-get of Debian 12, and the registries of PyPI and Debian. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" python-gsmmodem-new==0.13.0 pyserial==3.5 pdusms==1.0
cat >"$work/finding.py" <<'PY'
from gsmmodem.pdu import decodeSmsPdu
from smspdu.pdu import SMS_DELIVER

for septets, pdu in (
    (8, "00040D91328430214365F700006211929003004008C3309B0D6A9701"),
    (9, "00040D91328430214365F700006211929003004009C3309B0D6A974100"),
):
    print(f"python-gsmmodem-new, {septets} septets: {decodeSmsPdu(pdu)['text']}")
    print(f"pdusms, {septets} septets: {SMS_DELIVER.fromPDU(pdu[2:], 'finding').user_data}")
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" | tee "$work/seen"
(cd "$work" && apt-get download -qq libnet-smpp-perl=1.19-3 2>apt.log) || { cat "$work/apt.log"; exit 1; }
dpkg -x "$work"/libnet-smpp-perl_*.deb "$work/debian"
perl -I "$work/debian/usr/share/perl5" -MNet::SMPP -e '
    for my $text ("Call me\0", "Call me \0") {
        my $back = Net::SMPP::unpack_7bit(Net::SMPP::pack_7bit($text));
        printf "Net::SMPP, %d septets: %s\n", length($text), $back =~ tr/\0/@/r;
    }' | tee -a "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "a decoder reads it otherwise now"; exit 1; }
python-gsmmodem-new, 8 septets: Call me
pdusms, 8 septets: Call me
python-gsmmodem-new, 9 septets: Call me @
pdusms, 9 septets: Call me @
Net::SMPP, 8 septets: Call me
Net::SMPP, 9 septets: Call me @
SEEN
