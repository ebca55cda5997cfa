"""Prints the version of phonenumbers, then one line for each beginning of four digits of a Nigerian mobile number: the
beginning and the operator, which may be empty. A beginning that is mobile for some continuations only ends with `?`."""

import re

import phonenumbers
from phonenumbers import carrier
from phonenumbers.phonemetadata import PhoneMetadata

NIGERIA = 234
REST = ("000000", "123456", "499999", "500000", "999999")

pattern = re.compile(PhoneMetadata.metadata_for_region("NG").mobile.national_number_pattern)
print(phonenumbers.__version__)
for number in range(10_000):
    beginning = f"{number:04}"
    mobile = [bool(pattern.fullmatch(beginning + rest)) for rest in REST]
    if any(mobile):
        first = phonenumbers.PhoneNumber(NIGERIA, int(beginning + REST[0]))
        mark = "" if all(mobile) else "?"
        print(f"{beginning}{mark} {carrier.name_for_number(first, 'en')}")
