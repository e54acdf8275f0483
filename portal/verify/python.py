import base64, hashlib, hmac, re, time


def is_genuine(body: bytes, headers, key: str) -> bool:
    """Returns whether a webhook is genuine.

    body: raw body as received, not parsed
    headers: headers of the request, such as those of Flask, or a dict with names in lower case
    key: secret (whsec_...) or public key (whpk_...) of the endpoint
    """
    webhook_id = headers.get("webhook-id") or ""
    timestamp = headers.get("webhook-timestamp") or ""
    signatures = headers.get("webhook-signature") or ""
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False

    signed = f"{webhook_id}.{timestamp}.".encode() + body
    given = [signature.partition(",")[::2] for signature in signatures.split(" ")]
    if key.startswith("whpk_"):
        return any(version == "v1a" and _verifies(key, text, signed) for version, text in given)
    secret = base64.b64decode(key.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest())
    return any(version == "v1" and hmac.compare_digest(expected, text.encode()) for version, text in given)


def _verifies(public_key: str, text: str, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # pip install cryptography
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    try:
        key.verify(base64.b64decode(text), signed)
        return True
    except (InvalidSignature, ValueError):
        return False
