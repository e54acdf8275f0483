package webhooks

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// IsGenuine returns whether a webhook is genuine.
// body is the raw body as received, not parsed;
// key is the secret (whsec_...) or the public key (whpk_...) of the endpoint.
func IsGenuine(body []byte, header http.Header, key string) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		version, text, _ := strings.Cut(signature, ",")
		given, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		if strings.HasPrefix(key, "whpk_") {
			bytes, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whpk_"))
			if err != nil || len(bytes) != ed25519.PublicKeySize {
				return false
			}
			if version == "v1a" && ed25519.Verify(bytes, signed, given) {
				return true
			}
			continue
		}
		secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whsec_"))
		if err != nil {
			return false
		}
		expected := hmac.New(sha256.New, secret)
		expected.Write(signed)
		if version == "v1" && hmac.Equal(given, expected.Sum(nil)) {
			return true
		}
	}
	return false
}
