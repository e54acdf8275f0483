import { createHmac, type KeyObject } from 'node:crypto';

import { OptionsError } from '../../common/options.error.js';
import { isBody, isEqual } from './signature.util.js';
import { MIN_STANDARD_KEY_BYTES, toStandardKey, usableSecrets, warnOnce } from './webhook-secret.rules.js';

/** How far the time in `webhook-timestamp` may be from now, in ms; that of the Standard Webhooks libraries. */
const DEFAULT_TOLERANCE = 300_000;

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

const SUBJECT = 'verifyStandardWebhook';

/** Options of {@link verifyStandardWebhook} and `WebhookSignatureGuard`. */
export interface StandardWebhookOptions {
  /**
   * How far `webhook-timestamp` may be from this machine's time, before or after it, in ms.
   * @default 300_000 (5 minutes)
   */
  tolerance?: number | undefined;
}

/** A request's headers: those of Node, a `Headers` of `fetch`, or any record, whatever the case of its names. */
export type WebhookRequestHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/**
 * Whether a request has the headers of Standard Webhooks, signed under the secret or one of the secrets, at a time
 * within the tolerance. They cover id, time and body; a captured request can be sent again within the tolerance, so drop
 * a repeated `webhook-id`.
 * Returns `false` for anything wrong with the request, and for a secret of less than 24 bytes, which is also a process
 * warning, once. After `whsec_`, a secret is base64; any other is text.
 *
 * @param rawBody the body's bytes as received: a body that was parsed and stringified again may differ.
 * @param secrets the shared secret, or all that are valid while it is rotated.
 * @throws {OptionsError} for a tolerance that is not a number of milliseconds.
 */
export function verifyStandardWebhook(
  rawBody: string | Uint8Array | undefined,
  headers: WebhookRequestHeaders | undefined,
  secrets: string | readonly string[] | undefined,
  { tolerance = DEFAULT_TOLERANCE }: StandardWebhookOptions = {},
): boolean {
  checkTolerance(SUBJECT, tolerance);
  const usable = usableSecrets(SUBJECT, secrets);
  const keys = usable.flatMap((secret) => toStandardKey(secret) ?? []);
  if (keys.length < usable.length) {
    warnOnce(`${SUBJECT}: a secret must have at least ${MIN_STANDARD_KEY_BYTES} bytes; a shorter one verifies nothing`);
  }
  const [id, timestamp, signatures] = STANDARD_HEADERS.map((name) => headerOf(headers, name));
  if (!id || !timestamp || !signatures || !isBody(rawBody) || !isRecent(timestamp, tolerance)) return false;
  const given = signatures.split(' ');
  return keys.some((key) => {
    const expected = signStandardWebhook(id, timestamp, rawBody, key);
    return given.some((signature) => isEqual(signature, expected));
  });
}

/** A header's value; undefined where it is missing, or an array. */
export function headerOf(headers: WebhookRequestHeaders | undefined, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const record = headers as Record<string, unknown>;
  const value = record[name] ?? Object.entries(record).find(([other]) => other.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : undefined;
}

/** In whole seconds, as the header is. */
function isRecent(timestamp: string, tolerance: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(Date.now() / 1_000) - Number(timestamp)) * 1_000 <= tolerance;
}

/** @throws {OptionsError} unless it is a number of milliseconds. */
export function checkTolerance(subject: string, tolerance: unknown): void {
  if (typeof tolerance === 'number' && tolerance >= 0) return;
  throw new OptionsError(subject, ['tolerance must be a number of milliseconds, 0 or above']);
}

/** A signature as the `webhook-signature` header of Standard Webhooks carries it, for one key. */
export function signStandardWebhook(
  id: string,
  timestamp: string,
  body: string | Uint8Array,
  key: Uint8Array | KeyObject,
): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
