<?php
// Print each recipient of a message and its status: php report.php MESSAGE_ID
for ($page = 1, $last = 1; $page <= $last; $page++) {
    $query = http_build_query(['message_id' => $argv[1], 'page' => $page, 'per_page' => 1000]);
    $answer = file_get_contents(getenv('OGENE_URL') . '/api/v2/delivery-reports?' . $query, false,
        stream_context_create(['http' => [
            'header' => 'Authorization: Bearer ' . getenv('OGENE_TOKEN'),
            'ignore_errors' => true,
            'timeout' => 30,
        ]]));
    $answer = json_decode($answer === false ? 'null' : $answer, true);
    if (($answer['code'] ?? '') !== 'API-0000') {
        fwrite(STDERR, ($answer['code'] ?? 'no answer') . ': ' . ($answer['message'] ?? '') . "\n");
        exit(1);
    }
    foreach ($answer['data']['reports'] as $report) {
        echo $report['recipient'], ' ', $report['delivery_status'], "\n";
    }
    $last = $answer['data']['pagination']['last_page'];
}
