#!/usr/bin/env bash
# naija-data 1.0.0: mobile numbers of the newer ranges are invalid for it, such as those with 0709, 0720, 0910 and 0914. It
# names them unallocated or an unknown prefix. phonenumbers 9.0.43 has them as mobile numbers of Nigeria.
#
# Guessed: valid, since both follow the numbering plan.
# Seen:    07201234567: naija-data unknown_prefix, phonenumbers mobile
# Ogene:   it follows phonenumbers, and a number whose prefix no network has is valid: tests are
#          `mobile_numbers_are_those_of_the_newest_phonenumbers` and
#          `a_prefix_names_the_operator`. A client that checks numbers by naija-data loses them.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" naija-data==1.0.0 phonenumbers==9.0.43
cat >"$work/finding.py" <<'PY'
import naija_data
import phonenumbers

for text in ("08031234567", "07091234567", "07201234567", "09101234567", "09141234567", "09171234567"):
    number = phonenumbers.parse(text, "NG")
    mobile = phonenumbers.number_type(number) == phonenumbers.PhoneNumberType.MOBILE
    first = naija_data.phone_error(text) or "valid"
    print(f"{text}: naija-data {first}, phonenumbers {'mobile' if mobile else 'not valid'}")
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the numbers are judged otherwise now"; exit 1; }
08031234567: naija-data valid, phonenumbers mobile
07091234567: naija-data unallocated, phonenumbers mobile
07201234567: naija-data unknown_prefix, phonenumbers mobile
09101234567: naija-data unknown_prefix, phonenumbers mobile
09141234567: naija-data unknown_prefix, phonenumbers mobile
09171234567: naija-data unknown_prefix, phonenumbers not valid
SEEN
