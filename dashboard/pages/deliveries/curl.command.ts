import { MASK } from '../../components/masked-value.component.js';
import { showHidden } from '../../components/plain-text.util.js';
import type { RequestPreview } from './delivery.answer.js';

/** Sets KEY to the Standard Webhooks key in hexadecimal: after `whsec_`, the secret is base64. */
const STANDARD_KEY =
  `KEY=$(case $SECRET in whsec_*) printf %s "\${SECRET#whsec_}" | openssl base64 -d -A;; ` +
  `*) printf %s "$SECRET";; esac | od -An -v -tx1 | tr -d ' \\n')`;

/**
 * Returns a shell command that posts the body to a receiver, signed with the secret that the user fills in. The command
 * needs curl, and for signatures openssl. A private key (`v1a`) signs in the relay alone: its signature is left to fill in.
 */
export function toCurl(url: string, { headers, body = '' }: RequestPreview): string {
  const isSigned = 'X-Signature' in headers;
  // Only a private key makes no X-Signature.
  const isStandard = isSigned && 'webhook-signature' in headers;
  const signing = [
    `SECRET='<shared secret>'`,
    `SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha1 -hmac "$SECRET" -r | cut -d' ' -f1)`,
  ];
  const standard = [
    `ID=${quote(headers['webhook-id'] ?? '')}`,
    `TIMESTAMP=$(date +%s)`,
    STANDARD_KEY,
    `STANDARD=$(printf %s "$ID.$TIMESTAMP.$BODY" |` +
      ` openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)`,
  ];
  const lines = Object.entries(headers).flatMap(([name, value]) => toOption(name, value, isSigned));
  return [
    `BODY=${quote(showHidden(body))}`,
    ...(isSigned ? signing : []),
    ...(isStandard ? standard : []),
    [`printf %s "$BODY" | curl -i ${quote(url)}`, ...lines, '--data-binary @-'].join(' \\\n  '),
  ].join('\n');
}

function toOption(name: string, value: string, isSigned: boolean): string[] {
  if (!isSigned && name.startsWith('webhook-')) return [toHeader(name, value)];
  switch (name) {
    case 'X-Signature':
      return ['-H "X-Signature: $SIGNATURE"'];
    case 'X-Signature-Previous':
      return []; // made with the previous secret
    case 'webhook-id':
      return ['-H "webhook-id: $ID"'];
    case 'webhook-timestamp':
      return ['-H "webhook-timestamp: $TIMESTAMP"'];
    case 'webhook-signature':
      return ['-H "webhook-signature: v1,$STANDARD"'];
    default:
      return [toHeader(name, value)];
  }
}

function toHeader(name: string, value: string): string {
  return `-H ${quote(`${name}: ${value === MASK ? `<value of ${name}>` : value}`)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
