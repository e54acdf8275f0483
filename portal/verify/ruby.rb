require 'openssl'

# Returns whether a webhook is genuine.
#
# body:    raw body as received, not parsed
# headers: a hash with names in lower case
# key:     secret (whsec_...) or public key (whpk_...) of the endpoint
def genuine?(body, headers, key)
  id, time, signatures = headers.values_at('webhook-id', 'webhook-timestamp', 'webhook-signature')
  return false unless id && signatures && time&.match?(/\A\d+\z/) && (Time.now.to_i - time.to_i).abs <= 300

  signed = "#{id}.#{time}.".b + body.b
  bytes = key.sub(/\Awh(sec|pk)_/, '').unpack1('m')
  signatures.split(' ').any? do |signature|
    version, text = signature.split(',', 2)
    given = text.to_s.unpack1('m')
    if key.start_with?('whpk_')
      prefix = ['302a300506032b6570032100'].pack('H*') # an Ed25519 key in ASN.1
      version == 'v1a' && OpenSSL::PKey.read(prefix + bytes).verify(nil, given, signed)
    else
      expected = OpenSSL::HMAC.digest('SHA256', bytes, signed)
      version == 'v1' && given.bytesize == expected.bytesize && OpenSSL.fixed_length_secure_compare(given, expected)
    end
  end
rescue OpenSSL::PKey::PKeyError
  false
end
