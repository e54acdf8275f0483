import type { OutcomeClass } from '../queue/attempt-record.interface.js';

const TEMPORARY_STATUS = new Set([408, 425, 429]);

/** Codes of errors that a retry does not fix: the address or the certificate is refused. */
const NOT_TRUSTED = new RegExp(
  '^(address_not_allowed|ERR_TLS_CERT_ALTNAME_INVALID|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|INVALID_(CA|PURPOSE)|' +
    'CERT_(CHAIN_TOO_LONG|HAS_EXPIRED|NOT_YET_VALID|REJECTED|REVOKED|SIGNATURE_FAILURE|UNTRUSTED)|' +
    'UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$',
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
