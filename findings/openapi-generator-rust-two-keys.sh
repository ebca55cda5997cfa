#!/usr/bin/env bash
# openapi-generator 7.26.0, generator `rust`: where an operation may be called with one of two keys, one in a header or
# one in the query, the client sends the same key in both places at once: its configuration has one key.
#
# Guessed: the key goes to the place of the scheme that was named first.
# Seen:    api_key is put into the query and into the header of each request.
# Ogene:   a token in a query is read, but appears in logs of proxies; its document names the Bearer scheme first.
#
# Needs python3 with pip, Java and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" openapi-generator-cli==7.26.0
cat >"$work/openapi.json" <<'JSON'
{"openapi": "3.0.3", "info": {"title": "Finding", "version": "1"},
 "security": [{"inHeader": []}, {"inQuery": []}],
 "paths": {"/balance": {"get": {"operationId": "balance", "responses": {"204": {"description": "Read"}}}}},
 "components": {"securitySchemes": {
  "inHeader": {"type": "apiKey", "in": "header", "name": "api_token"},
  "inQuery": {"type": "apiKey", "in": "query", "name": "api_token"}}}}
JSON
java -jar "$work/python/openapi_generator_cli/openapi-generator.jar" generate --generator-name rust \
    --input-spec "$work/openapi.json" --output "$work/client" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
seen=$(grep -cE 'req_builder\.(query|header)\(.*"api_token"' "$work/client/src/apis/default_api.rs")
grep -E 'req_builder\.(query|header)\(.*"api_token"' "$work/client/src/apis/default_api.rs"
[ "$seen" = 2 ] || { echo "the key goes to $seen places now"; exit 1; }
