import { isWebhookUrl } from '../../dispatch/destination.options.js';
import { refuseFields, RequestError } from '../../http/request.error.js';
import { MAX_METADATA_VALUE } from '../../entry.rules.js';
import type { SignatureScheme } from '../../receiver/webhook-secret.rules.js';

/** Maximum length of a URL, in characters. */
const MAX_URL = 2_000;

type Body = Record<string, unknown>;

/**
 * Returns the fields of a body.
 *
 * @throws {RequestError} 400 for another field
 */
export function readFields<F extends string>(body: Body, ...fields: F[]): Partial<Record<F, unknown>> {
  refuseFields(Object.fromEntries(Object.entries(body).filter(([name]) => !(fields as string[]).includes(name))));
  return body as Partial<Record<F, unknown>>;
}

/** @throws {RequestError} 400 */
export function readUrl(url: unknown): string {
  if (isWebhookUrl(url) && url.length <= MAX_URL) return url;
  throw fault('url', `must be an http or https URL of at most ${MAX_URL} characters`);
}

/** @throws {RequestError} 400 */
export function readDescription(description: unknown): string | undefined {
  const isText = typeof description === 'string' && description.length <= MAX_METADATA_VALUE;
  if (isText || description === undefined) return description;
  throw fault('description', `must be a string of at most ${MAX_METADATA_VALUE} characters`);
}

/** @throws {RequestError} 400 */
export function readSignature(signature: unknown): SignatureScheme | undefined {
  if (signature === undefined || signature === 'v1' || signature === 'v1a') return signature;
  throw fault('signature', "must be 'v1' or 'v1a'");
}

/** @throws {RequestError} 400 */
export function readEvent(event: unknown): string {
  if (typeof event === 'string' && event !== '' && event.length <= MAX_METADATA_VALUE) return event;
  throw fault('event', `must be the name of an event, of 1 to ${MAX_METADATA_VALUE} characters`);
}

/** @throws {RequestError} 400 */
export function readSince(since: unknown): number {
  if (Number.isSafeInteger(since) && (since as number) >= 0) return since as number;
  throw fault('since', 'must be milliseconds since the epoch, as a whole number');
}

function fault(field: string, rule: string): RequestError {
  return new RequestError('options_invalid', `${field} ${rule}`, field, 400);
}
