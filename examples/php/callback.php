<?php
// Receive callbacks, and write each new outcome once on standard error: php -S 127.0.0.1:9000 callback.php
$body = file_get_contents('php://input');
$secret = getenv('OGENE_CALLBACK_SECRET');
if ($secret) {
    // Standard Webhooks: HMAC-SHA256 of id, timestamp and body. A timestamp is good for five minutes.
    [$id, $time] = [$_SERVER['HTTP_WEBHOOK_ID'] ?? '', $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? ''];
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    $given = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
    $genuine = array_filter($given, fn ($signature) => hash_equals($expected, $signature));
    if (!$genuine || abs(time() - (int) $time) > 300) {
        http_response_code(401);
        return;
    }
}
$outcome = json_decode($body, true);
if (!is_array($outcome) || !isset($outcome['message_id'], $outcome['recipient'])) {
    http_response_code(400);
    return;
}
// A callback can arrive twice. A real receiver has a unique key of both in its database.
$seen = sys_get_temp_dir() . '/ogene-' . sha1($outcome['message_id'] . $outcome['recipient']);
if ($file = @fopen($seen, 'x')) {
    fclose($file);
    $line = "{$outcome['message_id']} {$outcome['recipient']} {$outcome['delivery_status']}\n";
    file_put_contents('php://stderr', $line);
}
