import { type KeyObject, randomBytes } from 'node:crypto';

import { isNonEmptyString } from '../../common/value.util.js';
import { isPrivateKey, isPublicKey, publicBytesOf, toPrivateKey } from './ed25519-key.util.js';

/** Prefixes of Standard Webhooks. What follows them is base64. Any other secret is text. */
const PREFIXES = { symmetric: 'whsec_', private: 'whsk_', public: 'whpk_' } as const;

type SecretKind = keyof typeof PREFIXES | 'text';

/** Minimum length of a symmetric Standard Webhooks key, in bytes: the specification requires 192 bits. */
export const MIN_STANDARD_KEY_BYTES = 24;

const SYMMETRIC_RULE = `after whsec_, a secret must be base64 of at least ${MIN_STANDARD_KEY_BYTES} bytes`;
const TEXT_RULE = 'others must not begin or end with white space or a quote';

/** Rule that {@link isHmacSecret} checks of a text, worded for error messages. */
export const HMAC_RULE = `${SYMMETRIC_RULE}; whsk_ and whpk_ keys make no X-Signature; ${TEXT_RULE}`;

/** Rule that {@link isVerifyingSecret} checks of a text, worded for error messages. */
export const VERIFYING_RULE = `${SYMMETRIC_RULE}, and after whpk_ of an Ed25519 public key; whsk_ is the private key of the sender, and a receiver takes its public key; ${TEXT_RULE}`;

/** Length of a generated secret, in bytes. */
const GENERATED_BYTES = 32;

/** The schemes of Standard Webhooks: an HMAC with a shared secret, or a signature with a private key. */
export type SignatureScheme = 'v1' | 'v1a';

/** Generates a secret: `whsec_...`, or a private key `whsk_...`. */
export function generateSecret(scheme: SignatureScheme): string {
  return toSecret(scheme === 'v1' ? 'symmetric' : 'private', randomBytes(GENERATED_BYTES));
}

/** Returns the kind of a secret, by its prefix. */
export function kindOfSecret(secret: string): SecretKind {
  const [kind] = Object.entries(PREFIXES).find(([, prefix]) => secret.startsWith(prefix)) ?? ['text'];
  return kind as SecretKind;
}

/** Returns the text of a key with the prefix of its kind. */
function toSecret(kind: keyof typeof PREFIXES, bytes: Buffer): string {
  return PREFIXES[kind] + bytes.toString('base64');
}

/**
 * Returns the bytes after the prefix of a secret of this kind; undefined for a secret of another kind, and for invalid
 * base64.
 */
export function bytesOf(kind: keyof typeof PREFIXES, secret: string): Buffer | undefined {
  return kindOfSecret(secret) === kind ? decodeBase64(secret.slice(PREFIXES[kind].length)) : undefined;
}

/**
 * Returns the symmetric Standard Webhooks key of a secret: the base64 after `whsec_`, or its text. Returns undefined for
 * an asymmetric one, for invalid base64, and for a key that is too short.
 */
export function toStandardKey(secret: string): Buffer | undefined {
  const key = kindOfSecret(secret) === 'text' ? Buffer.from(secret) : bytesOf('symmetric', secret);
  return key && key.length >= MIN_STANDARD_KEY_BYTES ? key : undefined;
}

/** Returns the private key of a `whsk_` secret; undefined for another secret, and for an invalid key. */
export function privateKeyOf(secret: string): KeyObject | undefined {
  const bytes = bytesOf('private', secret);
  return bytes && isPrivateKey(bytes) ? toPrivateKey(bytes) : undefined;
}

/**
 * Returns the public key, `whpk_...`, under which receivers verify what a `whsk_` secret signs. Returns undefined for any
 * other secret, and for an invalid key.
 *
 * @see docs/webhooks.md, "Signing with a private key"
 */
export function publicKeyOf(secret: string): string | undefined {
  const key = typeof secret === 'string' ? privateKeyOf(secret) : undefined;
  return key && toSecret('public', publicBytesOf(key));
}

/** Returns whether `X-Signature` is made with a secret: with any but an asymmetric one. */
export function isSymmetric(secret: string): boolean {
  return ['symmetric', 'text'].includes(kindOfSecret(secret));
}

/**
 * Returns whether a secret may sign and verify as the key of an HMAC. An empty one, or `whsec_` without a key, can be
 * guessed, and a public key is known. White space or a quote at an end comes from a file or a shell, and the other side
 * does not have it.
 */
export function isHmacSecret(value: unknown): value is string {
  if (!isNonEmptyString(value) || !isSymmetric(value)) return false;
  return kindOfSecret(value) === 'symmetric' ? toStandardKey(value) !== undefined : !/^[\s"'`]|[\s"'`]$/.test(value);
}

/** Returns whether a secret may sign the requests of a destination: a public key may not. */
export function isSigningSecret(value: unknown): value is string {
  const privateKey = isNonEmptyString(value) ? bytesOf('private', value) : undefined;
  return privateKey ? isPrivateKey(privateKey) : isHmacSecret(value);
}

/** Returns whether a receiver may verify with a secret. */
export function isVerifyingSecret(value: unknown): value is string {
  const publicKey = isNonEmptyString(value) ? bytesOf('public', value) : undefined;
  return publicKey ? isPublicKey(publicKey) : isHmacSecret(value);
}

/** Accepts base64 with or without padding. Compares the result, because Buffer skips invalid characters. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return withoutPadding(bytes.toString('base64')) === withoutPadding(text) ? bytes : undefined;
}

function withoutPadding(text: string): string {
  return text.replace(/={1,2}$/, '');
}

const warned = new Set<string>();

/**
 * Returns the valid secrets. Emits a process warning, once, if there is none or one is invalid: the receiver is
 * misconfigured, not the request.
 */
export function usableSecrets(subject: string, secrets: string | readonly string[] | undefined): string[] {
  const given = [secrets].flat().filter(isNonEmptyString);
  const usable = given.filter(isVerifyingSecret);
  if (given.length === 0) warnOnce(`${subject}: the secret is empty or not set, so every webhook is refused`);
  if (usable.length < given.length) warnOnce(`${subject}: ${VERIFYING_RULE}; invalid secrets are ignored`);
  return usable;
}

/** Emits a process warning, once per message. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, 'WebhookWarning');
}
