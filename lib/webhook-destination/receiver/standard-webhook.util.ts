import { createHmac, type KeyObject, sign, verify } from 'node:crypto';

import { OptionsError } from '../../common/options.error.js';
import { toPublicKey } from './ed25519-key.util.js';
import { isBody, isEqual } from './signature.util.js';
import {
  bytesOf,
  decodeBase64,
  MIN_STANDARD_KEY_BYTES,
  toStandardKey,
  usableSecrets,
  warnOnce,
} from './webhook-secret.rules.js';

/** Default tolerance of `webhook-timestamp`, in ms; the same as in the Standard Webhooks libraries. */
const DEFAULT_TOLERANCE = 300_000;

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

const SUBJECT = 'verifyStandardWebhook';

/** Names of the schemes in `webhook-signature`. */
const SYMMETRIC = 'v1,';
const ASYMMETRIC = 'v1a,';

/**
 * Maximum number of asymmetric signatures of a request that are verified. A rotation has two; each one takes 0.2 ms, and
 * strangers could send hundreds.
 */
const MAX_ASYMMETRIC = 4;

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
 * once. After `whsec_`, a secret is base64, and after `whpk_`, the base64 of an Ed25519 public key; any other secret is
 * text.
 *
 * @param rawBody the body's bytes as received; a body that was parsed and serialized again may differ.
 * @param secrets the shared secret or public key, or all that are valid during rotation.
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
  const verifiers = usable.flatMap((secret) => verifierOf(secret) ?? []);
  if (verifiers.length < usable.length) {
    warnOnce(`${SUBJECT}: a secret must have at least ${MIN_STANDARD_KEY_BYTES} bytes; shorter secrets are ignored`);
  }
  const [id, timestamp, signatures] = STANDARD_HEADERS.map((name) => headerOf(headers, name));
  if (!id || !timestamp || !signatures || !isBody(rawBody) || !isRecent(timestamp, tolerance)) return false;
  const given = signatures.split(' ');
  return verifiers.some((isSigned) => isSigned(id, timestamp, rawBody, given));
}

/** Returns whether one of the given signatures is that of a request. */
type Verifier = (id: string, timestamp: string, body: string | Uint8Array, given: string[]) => boolean;

/** Returns undefined for a secret that is too short. */
function verifierOf(secret: string): Verifier | undefined {
  const publicBytes = bytesOf('public', secret);
  if (publicBytes) {
    return (id, timestamp, body, given) => {
      const signatures = given.filter((signature) => signature.startsWith(ASYMMETRIC)).slice(0, MAX_ASYMMETRIC);
      if (signatures.length === 0) return false;
      const publicKey = toPublicKey(publicBytes);
      const signed = toSigned(id, timestamp, body);
      return signatures.some((signature) => {
        const bytes = decodeBase64(signature.slice(ASYMMETRIC.length));
        return bytes !== undefined && verify(null, signed, publicKey, bytes);
      });
    };
  }
  const key = toStandardKey(secret);
  return (
    key &&
    ((id, timestamp, body, given) => {
      const expected = signStandardWebhook(id, timestamp, body, key);
      return given.some((signature) => isEqual(signature, expected));
    })
  );
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

/** Returns the signature for one symmetric key, in the format of the `webhook-signature` header of Standard Webhooks. */
export function signStandardWebhook(
  id: string,
  timestamp: string,
  body: string | Uint8Array,
  key: Uint8Array | KeyObject,
): string {
  return SYMMETRIC + createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
}

/** Same as {@link signStandardWebhook}, for an Ed25519 private key. */
export function signAsymmetric(id: string, timestamp: string, body: string | Uint8Array, key: KeyObject): string {
  return ASYMMETRIC + sign(null, toSigned(id, timestamp, body), key).toString('base64');
}

function toSigned(id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`), typeof body === 'string' ? Buffer.from(body) : body]);
}
