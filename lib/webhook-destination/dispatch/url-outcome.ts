import type { OutcomeClass } from '../queue/attempt-record.interface.js';

const TEMPORARY_STATUS = new Set([408, 425, 429]);

/**
 * Codes of errors that a retry does not fix: the address or the certificate is refused. Certificates that are expired,
 * not yet valid or of an unknown issuer are not among them: time or an operator mends them.
 */
const NOT_TRUSTED = new RegExp(
  '^(address_not_allowed|ERR_TLS_CERT_ALTNAME_INVALID|DEPTH_ZERO_SELF_SIGNED_CERT|INVALID_(CA|PURPOSE)|' +
    'CERT_(CHAIN_TOO_LONG|REJECTED|REVOKED|SIGNATURE_FAILURE|UNTRUSTED))$',
);

/** Which answers are retried. `'spec'`: 5xx, 408, 425 and 429. `'any-failure'`: all except 2xx. */
export type RetryOn = 'spec' | 'any-failure';

export function isRetryOn(value: unknown): value is RetryOn {
  return value === 'spec' || value === 'any-failure';
}

/** Returns the outcome class of an answer. */
export function classifyStatus(status: number, retryOn: RetryOn): OutcomeClass {
  if (status >= 200 && status < 300) return 'success';
  return retryOn === 'any-failure' || isFailure(status) ? 'temporary' : 'permanent';
}

/** Returns whether a status means that the receiver failed, rather than refused the message. */
export function isFailure(status: number): boolean {
  return status >= 500 || TEMPORARY_STATUS.has(status);
}

/** Returns the outcome class of an exchange without an answer. */
export function classifyError(error: unknown): OutcomeClass {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && NOT_TRUSTED.test(code) ? 'permanent' : 'temporary';
}
