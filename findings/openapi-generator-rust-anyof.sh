#!/usr/bin/env bash
# openapi-generator 7.26.0, generator `rust`: a property that is `anyOf` a string and an array of strings becomes an
# empty struct. The generator exits with 0, and the client that it writes cannot send either value.
#
# Guessed: an enum of the two, as the generator writes for `oneOf`.
# Seen:    pub struct SendTo { }
# Ogene:   its document uses `oneOf` for `to`; a test of the document refuses `anyOf`, and ./test sends with the client.
#
# Needs python3 with pip, Java and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" openapi-generator-cli==7.26.0
cat >"$work/openapi.json" <<'JSON'
{"openapi": "3.0.3", "info": {"title": "Finding", "version": "1"},
 "paths": {"/send": {"post": {"operationId": "send",
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Send"}}}},
  "responses": {"204": {"description": "Sent"}}}}},
 "components": {"schemas": {"Send": {"type": "object", "required": ["to"], "properties": {
  "to": {"KIND": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}}}}}}
JSON
for kind in anyOf oneOf; do
    sed "s/KIND/$kind/" "$work/openapi.json" >"$work/$kind.json"
    java -jar "$work/python/openapi_generator_cli/openapi-generator.jar" generate --generator-name rust \
        --input-spec "$work/$kind.json" --output "$work/$kind" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    printf '%s: ' "$kind"
    tr -d '\n' <"$work/$kind/src/models/send_to.rs" | grep -oE 'pub (struct|enum) SendTo \{[^}]*\}' | tr -s ' ' | tee "$work/$kind.seen"
done
grep -qx 'pub struct SendTo { *}' "$work/anyOf.seen" || { echo "anyOf is no empty struct any more"; exit 1; }
grep -q 'pub enum SendTo' "$work/oneOf.seen" || { echo "oneOf is no enum any more"; exit 1; }
