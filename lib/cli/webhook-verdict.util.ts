import type { ExecutionContext } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';

import { verifySignature } from '../webhook-destination/receiver/signature.util.js';
import { verifyStandardWebhook } from '../webhook-destination/receiver/standard-webhook.util.js';
import { isSymmetric } from '../webhook-destination/receiver/webhook-secret.rules.js';
import { WebhookSignatureGuard } from '../webhook-destination/receiver/webhook-signature.guard.js';

/** The result of verifying a webhook. */
export interface Verdict {
  /** Whether `WebhookSignatureGuard` admits it; `undefined` without a secret. */
  isValid: boolean | undefined;
  /** For the developer: which headers are valid, or what is wrong. */
  text: string;
}

/** Verifies a webhook as an application with `WebhookSignatureGuard` does, and explains the result. */
export function verifyWebhook(rawBody: Buffer, headers: IncomingHttpHeaders, secrets: string[]): Verdict {
  if (secrets.length === 0) return { isValid: undefined, text: 'not verified' };
  const symmetric = secrets.filter(isSymmetric);
  const isHmac = (header: string) =>
    symmetric.length > 0 && verifySignature(rawBody, valueOf(headers, header), symmetric);
  const checks: [string, (tolerance?: number) => boolean][] = [
    ['webhook-signature', (tolerance) => verifyStandardWebhook(rawBody, headers, secrets, { tolerance })],
    ['X-Signature', () => isHmac('X-Signature')],
    ['X-Signature-Previous', () => isHmac('X-Signature-Previous')],
  ];
  const present = checks.filter(([name]) => valueOf(headers, name) !== undefined);
  const valid = present.filter(([, verify]) => verify()).map(([name]) => name);
  if (isAdmitted(rawBody, headers, secrets)) return { isValid: true, text: `valid ${valid.join(', ')}` };
  if (present.length === 0) return { isValid: false, text: 'no signature: the destination has no sharedSecret' };
  const [name, verify] = present[0]!;
  if (verify(Infinity)) {
    const fault =
      name === 'webhook-signature'
        ? 'webhook-timestamp is more than 5 minutes from the time of this machine'
        : `only ${name}; with a whsec_ secret, the webhook-signature header is required`;
    return { isValid: false, text: fault };
  }
  return { isValid: false, text: `wrong ${name}: the destination has another sharedSecret` };
}

function valueOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name.toLowerCase()] as string | undefined;
}

function isAdmitted(rawBody: Buffer, headers: IncomingHttpHeaders, secrets: string[]): boolean {
  const http = { getRequest: () => ({ headers, rawBody }) };
  try {
    return new WebhookSignatureGuard(secrets).canActivate({ switchToHttp: () => http } as ExecutionContext);
  } catch {
    return false;
  }
}
