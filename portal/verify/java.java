import java.io.ByteArrayOutputStream;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Webhooks {
    /**
     * Returns whether a webhook is genuine. Java 17 or later.
     *
     * @param body    raw body as received, not parsed
     * @param headers headers with names in lower case
     * @param key     secret (whsec_...) or public key (whpk_...) of the endpoint
     */
    static boolean isGenuine(byte[] body, Map<String, String> headers, String key) throws Exception {
        String id = headers.getOrDefault("webhook-id", "");
        String time = headers.getOrDefault("webhook-timestamp", "");
        long now = System.currentTimeMillis() / 1000;
        if (!time.matches("\\d{1,12}") || Math.abs(now - Long.parseLong(time)) > 300) return false;

        var signed = new ByteArrayOutputStream();
        signed.write((id + "." + time + ".").getBytes("UTF-8"));
        signed.write(body);
        byte[] bytes = Base64.getDecoder().decode(key.replaceFirst("^wh(sec|pk)_", ""));
        for (String signature : headers.getOrDefault("webhook-signature", "").split(" ")) {
            String[] parts = signature.split(",", 2);
            if (parts.length == 2 && matches(parts[0], parts[1], signed.toByteArray(), key, bytes)) return true;
        }
        return false;
    }

    private static boolean matches(String version, String text, byte[] signed, String key, byte[] bytes) throws Exception {
        try {
            byte[] given = Base64.getDecoder().decode(text);
            if (key.startsWith("whpk_")) {
                String der = "302a300506032b6570032100" + HexFormat.of().formatHex(bytes); // the key in ASN.1
                var spec = new X509EncodedKeySpec(HexFormat.of().parseHex(der));
                Signature verifier = Signature.getInstance("Ed25519");
                verifier.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(spec));
                verifier.update(signed);
                return version.equals("v1a") && verifier.verify(given);
            }
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(bytes, "HmacSHA256"));
            return version.equals("v1") && MessageDigest.isEqual(mac.doFinal(signed), given);
        } catch (IllegalArgumentException | java.security.SignatureException notASignature) {
            return false;
        }
    }
}
