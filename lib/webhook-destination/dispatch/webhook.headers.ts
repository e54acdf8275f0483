import { createSecretKey, type KeyObject } from 'node:crypto';

import type { DestinationOptions } from '../options/destination.options.js';
import { signBody, signStandardWebhook, standardWebhookKey } from '../receiver/signature.util.js';

/** Product token of every webhook (§2.1). */
const USER_AGENT = 'nestjs-analytics-relay/1.0';

const HEADER_SAFE = /^[\x21-\x7e]+$/;

/** Makes the headers of one destination's requests: its own, those of §2.1 and the signatures of §5.1. */
export class WebhookHeaders {
  private readonly common: Record<string, string>;
  private readonly current: KeyObject | undefined;
  private readonly previous: KeyObject | undefined;
  private readonly standard: Buffer[];

  constructor({ headers, sharedSecret, standardWebhooks }: DestinationOptions) {
    const secrets = [sharedSecret ?? []].flat();
    this.common = { ...headers, 'Content-Type': 'application/json', 'User-Agent': USER_AGENT };
    [this.current, this.previous] = secrets.map((secret) => createSecretKey(secret, 'utf8'));
    this.standard = standardWebhooks ? secrets.map(standardWebhookKey) : [];
  }

  /**
   * The headers of one attempt.
   *
   * @param body the bytes that are sent
   * @param now when it is sent, in ms since the epoch
   */
  for(messageId: string, body: Buffer, now: number): Record<string, string> {
    const id = toHeaderValue(messageId);
    const headers: Record<string, string> = { ...this.common, 'X-Message-Id': id };
    if (this.current) headers['X-Signature'] = signBody(body, this.current);
    if (this.previous) headers['X-Signature-Previous'] = signBody(body, this.previous);
    if (this.standard.length > 0) {
      const timestamp = Math.floor(now / 1000);
      headers['webhook-id'] = id;
      headers['webhook-timestamp'] = String(timestamp);
      headers['webhook-signature'] = this.standard
        .map((key) => signStandardWebhook(id, timestamp, body, key))
        .join(' ');
    }
    return headers;
  }
}

/** An SDK may send any messageId: what a header cannot carry is percent-encoded, the same at each attempt. */
function toHeaderValue(messageId: string): string {
  return HEADER_SAFE.test(messageId) ? messageId : encodeURIComponent(Buffer.from(messageId).toString());
}
