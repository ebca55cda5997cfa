#!/usr/bin/env bash
# npm parse-prometheus-text-format 1.1.1: series of a histogram that differ in a label become one entry without labels. Its
# buckets are those of the last series. Sum and count are missing, even of a single series. A counter keeps its labels.
#
# Guessed: one entry for each route, with its labels and without the label le.
# Seen:    histogram of two routes: [{"buckets":{"0.1":"3","+Inf":"4"}}]
# Ogene:   promtool of Prometheus itself reads its metrics (`./test`), and a test is `every_metric_says_what_it_counts`. A
#          collector on this package takes the buckets of one route for those of all in `ogene_http_request_seconds`.
#
# Needs Node with npm and the registry of npm. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" parse-prometheus-text-format@1.1.1 \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cat >"$work/finding.js" <<'JS'
const parse = require("parse-prometheus-text-format");

function histogram(routes) {
  const lines = ["# HELP seconds Time.", "# TYPE seconds histogram"];
  for (const [route, first, all] of routes) {
    lines.push(`seconds_bucket{route="${route}",le="0.1"} ${first}`, `seconds_bucket{route="${route}",le="+Inf"} ${all}`);
    lines.push(`seconds_sum{route="${route}"} 1.5`, `seconds_count{route="${route}"} ${all}`);
  }
  return parse(lines.join("\n") + "\n")[0].metrics;
}

const counter = '# HELP sends Sends.\n# TYPE sends counter\nsends{route="/a"} 2\nsends{route="/b"} 4\n';
console.log("counter of two routes:", JSON.stringify(parse(counter)[0].metrics));
console.log("histogram of one route:", JSON.stringify(histogram([["/a", 1, 2]])));
console.log("histogram of two routes:", JSON.stringify(histogram([["/a", 1, 2], ["/b", 3, 4]])));
JS
node "$work/finding.js" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "the histograms are read otherwise now"; exit 1; }
counter of two routes: [{"value":"2","labels":{"route":"/a"}},{"value":"4","labels":{"route":"/b"}}]
histogram of one route: [{"buckets":{"0.1":"1","+Inf":"2"}}]
histogram of two routes: [{"buckets":{"0.1":"3","+Inf":"4"}}]
SEEN
