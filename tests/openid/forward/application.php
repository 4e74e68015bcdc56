<?php
// An application in PHP that reports the request headers, and the variables that PHP makes of them.
$remote = fn ($name) => preg_match('/^(HTTP_)?REMOTE_(USER|NAME|EMAIL|GROUPS|SUB)$/i', $name);
$headers = array_map(fn ($name, $value) => [$name, $value], array_keys(getallheaders()), getallheaders());
header('content-type: application/json');
echo json_encode(['headers' => $headers, 'variables' => (object) array_filter($_SERVER, $remote, ARRAY_FILTER_USE_KEY)]);
