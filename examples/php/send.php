<?php
// Send a message, and print its message_id: php send.php RECIPIENT TEXT [CALLBACK_URL]
$request = ['from' => getenv('OGENE_SENDER'), 'to' => $argv[1], 'body' => $argv[2]];
if (isset($argv[3])) {
    $request['callback_url'] = $argv[3];
}
$answer = file_get_contents(getenv('OGENE_URL') . '/api/v2/sms', false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => ['Authorization: Bearer ' . getenv('OGENE_TOKEN'), 'Content-Type: application/json'],
    'content' => json_encode($request),
    'ignore_errors' => true,
    'timeout' => 30,
]]));
$answer = json_decode($answer === false ? 'null' : $answer, true);
if (($answer['code'] ?? '') !== 'API-0000') {
    fwrite(STDERR, ($answer['code'] ?? 'no answer') . ': ' . ($answer['message'] ?? '') . "\n");
    exit(1);
}
echo $answer['data']['message_id'], "\n";
