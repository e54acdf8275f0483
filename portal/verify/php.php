<?php

/**
 * Returns whether a webhook is genuine.
 *
 * @param string $body raw body as received: file_get_contents('php://input')
 * @param array $headers with names in lower case: array_change_key_case(getallheaders())
 * @param string $key secret (whsec_...) or public key (whpk_...) of the endpoint
 */
function is_genuine(string $body, array $headers, string $key): bool
{
    $id = $headers['webhook-id'] ?? '';
    $time = $headers['webhook-timestamp'] ?? '';
    if (!ctype_digit($time) || abs(time() - (int) $time) > 300) {
        return false;
    }
    $signed = "$id.$time.$body";
    $bytes = base64_decode(preg_replace('/^wh(sec|pk)_/', '', $key));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
        [$version, $text] = explode(',', $signature, 2) + ['', ''];
        $given = (string) base64_decode($text, true);
        if (str_starts_with($key, 'whpk_')) {
            $is_long = strlen($given) === SODIUM_CRYPTO_SIGN_BYTES;
            if ($version === 'v1a' && $is_long && sodium_crypto_sign_verify_detached($given, $signed, $bytes)) {
                return true;
            }
        } elseif ($version === 'v1' && hash_equals(hash_hmac('sha256', $signed, $bytes, true), $given)) {
            return true;
        }
    }
    return false;
}
