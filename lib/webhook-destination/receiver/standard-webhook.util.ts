import { createHmac, type KeyObject } from 'node:crypto';

import { OptionsError } from '../../common/options.error.js';
import { isBody, isEqual } from './signature.util.js';
import { MIN_STANDARD_KEY_BYTES, toStandardKey, usableSecrets, warnOnce } from './webhook-secret.rules.js';

/** Default tolerance of `webhook-timestamp`, in ms; the same as in the Standard Webhooks libraries. */
const DEFAULT_TOLERANCE = 300_000;

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

const SUBJECT = 'verifyStandardWebhook';

/** Options of {@link verifyStandardWebhook} and `WebhookSignatureGuard`. */
export interface StandardWebhookOptions {
  /**
   * Maximum difference between `webhook-timestamp` and this machine's time, in either direction, in ms.
   * @default 300_000 (5 minutes)
   */
  tolerance?: number | undefined;
}

/** Headers of a request: Node's headers, a `Headers` object of `fetch`, or a record with names in any case. */
export type WebhookRequestHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | { get(name: string): string | null };

/**
 * Returns whether a request has valid Standard Webhooks headers: signed with any of the secrets, at a time within the
 * tolerance. The signature covers id, time and body. A captured request can be replayed within the tolerance, so drop a
 * repeated `webhook-id`.
 * Returns `false` for any invalid request, and for a secret of less than 24 bytes, which also causes a process warning,
 * once. After `whsec_`, a secret is base64; any other secret is text.
 *
 * @param rawBody the body's bytes as received; a body that was parsed and serialized again may differ.
 * @param secrets the shared secret, or all secrets that are valid during rotation.
 * @throws {OptionsError} if the tolerance is not a number of milliseconds.
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
    warnOnce(`${SUBJECT}: a secret must have at least ${MIN_STANDARD_KEY_BYTES} bytes; shorter secrets are ignored`);
  }
  const [id, timestamp, signatures] = STANDARD_HEADERS.map((name) => headerOf(headers, name));
  if (!id || !timestamp || !signatures || !isBody(rawBody) || !isRecent(timestamp, tolerance)) return false;
  const given = signatures.split(' ');
  return keys.some((key) => {
    const expected = signStandardWebhook(id, timestamp, rawBody, key);
    return given.some((signature) => isEqual(signature, expected));
  });
}

/** Returns the value of a header; undefined if it is missing or an array. */
function headerOf(headers: WebhookRequestHeaders | undefined, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const record = headers as Record<string, unknown>;
  const value = record[name] ?? Object.entries(record).find(([other]) => other.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : undefined;
}

/** Compares whole seconds, the unit of the header. */
function isRecent(timestamp: string, tolerance: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(Date.now() / 1_000) - Number(timestamp)) * 1_000 <= tolerance;
}

/** @throws {OptionsError} unless the tolerance is a number of milliseconds. */
export function checkTolerance(subject: string, tolerance: unknown): void {
  if (typeof tolerance === 'number' && tolerance >= 0) return;
  throw new OptionsError(subject, ['tolerance must be a number of milliseconds, 0 or above']);
}

/** Returns the signature for one key, in the format of the `webhook-signature` header of Standard Webhooks. */
export function signStandardWebhook(
  id: string,
  timestamp: string,
  body: string | Uint8Array,
  key: Uint8Array | KeyObject,
): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
