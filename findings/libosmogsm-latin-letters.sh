#!/usr/bin/env bash
# libosmogsm 1.7.0 (of the Osmocom network): 13 letters of GSM 03.38 (3GPP TS 23.038, section 6.2.1) are read as other signs
# of Latin-1, such as `ä` as `§`. Ten of them are written right. The signs `¤`, `§` and `¿` are written as `à`, `ä` and `ö`.
# Other letters beyond ASCII, such as `É` and `à`, are right both ways.
#
# Guessed: each of the 13 is read and written by its code, as the other letters are.
# Seen:    7b ä: written 7b, read §
#          5f §: written 7b, read ÿ
# Ogene:   it has the table of the standard itself, and asks no library: tests are `the_alphabet_is_that_of_the_standard` and
#          `golden_octets_of_both_alphabets`.
#
# Needs python3, apt-get of Debian 12 and its registry. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=(libosmogsm18=1.7.0-3 libosmocore19=1.7.0-3 libtalloc2 libsctp1)
(cd "$work" && apt-get download -qq "${packages[@]}" 2>apt.log) || { cat "$work/apt.log"; exit 1; }
for package in "$work"/*.deb; do dpkg -x "$package" "$work/debian"; done
cat >"$work/finding.py" <<'PY'
import ctypes

library = ctypes.CDLL("libosmogsm.so.18")


def written(letter):
    octets = ctypes.create_string_buffer(16)
    count = ctypes.c_int()
    library.gsm_7bit_encode_n(octets, ctypes.c_size_t(16), letter.encode("latin-1"), ctypes.byref(count))
    return octets.raw[: count.value].hex()


def read(code):
    text = ctypes.create_string_buffer(16)
    library.gsm_7bit_decode_n(text, ctypes.c_size_t(16), bytes([code]), ctypes.c_uint8(1))
    sign = text.value.decode("latin-1")
    return sign if sign.isprintable() else f"{ord(sign):#x}"


letters = {0x1F: "É", 0x7F: "à", 0x0C: "ø", 0x24: "¤", 0x40: "¡", 0x5B: "Ä", 0x5C: "Ö", 0x5D: "Ñ", 0x5E: "Ü", 0x5F: "§",
           0x60: "¿", 0x7B: "ä", 0x7C: "ö", 0x7D: "ñ", 0x7E: "ü"}
for code, letter in letters.items():
    print(f"{code:02x} {letter}: written {written(letter)}, read {read(code)}")
PY
LD_LIBRARY_PATH="$work/debian/usr/lib/x86_64-linux-gnu:$work/debian/lib/x86_64-linux-gnu" PYTHONIOENCODING=utf-8 \
    python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "libosmogsm has another table now"; exit 1; }
1f É: written 1f, read É
7f à: written 7f, read à
0c ø: written 0c, read 0x89
24 ¤: written 7f, read ÿ
40 ¡: written 40, read |
5b Ä: written 5b, read »
5c Ö: written 5c, read ®
5d Ñ: written 5d, read ½
5e Ü: written 5e, read 0x93
5f §: written 7b, read ÿ
60 ¿: written 7c, read ÿ
7b ä: written 7b, read §
7c ö: written 7c, read ¿
7d ñ: written 7d, read ¨
7e ü: written 7e, read ¼
SEEN
