#!/usr/bin/env bash
# tshark 4.0.17: months and years of a relative validity_period count nothing. One month is shown as 0 seconds, and 31 days
# that are written as one month and one day are shown as one day.
#
# Guessed: a month is 30 or 31 days.
# Seen:    000100000000000R: 0.000000000 seconds
#          000101000000000R: 86400.000000000 seconds
# Ogene:   the validity of a gateway is at most 7 days, so a message never has months: tests are
#          `the_validity_period_is_relative` and `every_duration_has_bounds_which_the_fault_names`.
#
# Needs python3, apt-get of Debian 12 and its registry. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=4.0.17-0+deb12u3
packages=(tshark="$version" wireshark-common="$version" libwireshark16="$version" libwireshark-data="$version"
    libwiretap13="$version" libwsutil14="$version" libbcg729-0 libc-ares2 liblua5.2-0 libmaxminddb0 libnl-3-200
    libnl-genl-3-200 libpcap0.8 libsbc1 libsmi2ldbl libsnappy1v5 libspandsp2 libspeexdsp1 libssh-gcrypt-4)
(cd "$work" && apt-get download -qq "${packages[@]}" 2>apt.log) || { cat "$work/apt.log"; exit 1; }
for package in "$work"/*.deb; do dpkg -x "$package" "$work/debian"; done
cat >"$work/finding.py" <<'PY'
import struct
import sys

path, validity = sys.argv[1:]
fields = b"\0" + b"\5\0AdaFoods\0" + b"\1\1" + b"2348031234567\0" + bytes(3) + b"\0" + validity.encode() + b"\0"
body = fields + bytes([1, 0, 0, 0, 5]) + b"Hello"
pdu = struct.pack(">IIII", 16 + len(body), 4, 0, 1) + body
tcp = struct.pack(">HHIIBBHHH", 40000, 2775, 1, 1, 0x50, 0x18, 65535, 0, 0) + pdu
ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0) + bytes([127, 0, 0, 1, 127, 0, 0, 2]) + tcp
head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
open(path, "wb").write(head + struct.pack("<IIII", 1795944600, 0, len(ip), len(ip)) + ip)
PY
for validity in 000002000000000R 000030000000000R 000100000000000R 000101000000000R 010000000000000R; do
    python3 "$work/finding.py" "$work/pcap" "$validity"
    LD_LIBRARY_PATH="$work/debian/usr/lib/x86_64-linux-gnu" "$work/debian/usr/bin/tshark" -r "$work/pcap" \
        -d tcp.port==2775,smpp -T fields -e smpp.validity_period_r 2>"$work/log" | sed "s/^/$validity: /; s/\$/ seconds/"
done | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "tshark shows other times now"; exit 1; }
000002000000000R: 172800.000000000 seconds
000030000000000R: 2592000.000000000 seconds
000100000000000R: 0.000000000 seconds
000101000000000R: 86400.000000000 seconds
010000000000000R: 0.000000000 seconds
SEEN
