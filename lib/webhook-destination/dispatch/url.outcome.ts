import type { OutcomeClass } from '../queue/attempt.record.js';

const TEMPORARY_STATUS = new Set([408, 425, 429]);

const NOT_TRUSTED = new Set([
  'address_not_allowed',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * Which answers are tried again: those of §7 (5xx, 408, 425, 429), or all but 2xx, for a receiver that answers 404 while
 * it is deployed.
 */
export type RetryOn = 'spec' | 'any-failure';

/** Whether a value is one of the two. */
export function isRetryOn(value: unknown): value is RetryOn {
  return value === 'spec' || value === 'any-failure';
}

/** The class of an answer. */
export function classifyStatus(status: number, retryOn: RetryOn): OutcomeClass {
  if (status >= 200 && status < 300) return 'success';
  return retryOn === 'any-failure' || isFailure(status) ? 'temporary' : 'permanent';
}

/** Whether a status says that the receiver fails (§7), and not that it refuses the message. */
export function isFailure(status: number): boolean {
  return status >= 500 || TEMPORARY_STATUS.has(status);
}

/** The class of an exchange that had no answer. */
export function classifyError(error: unknown): OutcomeClass {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && NOT_TRUSTED.has(code) ? 'permanent' : 'temporary';
}
