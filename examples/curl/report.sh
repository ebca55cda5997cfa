#!/bin/sh
# Print each recipient of a message and its status: report.sh MESSAGE_ID
set -eu
curl -sS --fail-with-body --get "$OGENE_URL/api/v2/delivery-reports" \
    -H "Authorization: Bearer $OGENE_TOKEN" --data-urlencode "message_id=$1" |
    grep -o '"recipient":"[^"]*","delivery_status":"[^"]*"' |
    sed 's/"recipient":"\([^"]*\)","delivery_status":"\([^"]*\)"/\1 \2/'
