#!/bin/sh
# Send a message, and print its message_id: send.sh RECIPIENT TEXT [CALLBACK_URL]
set -eu
answer=$(curl -sS "$OGENE_URL/api/v2/sms" -H "Authorization: Bearer $OGENE_TOKEN" \
    --data-urlencode "from=$OGENE_SENDER" --data-urlencode "to=$1" --data-urlencode "body=$2" \
    --data-urlencode "callback_url=${3:-}")
case "$answer" in
    *'"code":"API-0000"'*) echo "$answer" | sed 's/.*"message_id":"\([^"]*\)".*/\1/' ;;
    *) echo "$answer" >&2; exit 1 ;;
esac
