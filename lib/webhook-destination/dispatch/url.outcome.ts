import type { OutcomeClass } from '../queue/attempt.record.js';

const TEMPORARY_STATUS = new Set([408, 425, 429]);

const NOT_TRUSTED = new Set([
  'ERR_ADDRESS_NOT_ALLOWED',
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

/** The class of an answer. */
export function classifyStatus(status: number): OutcomeClass {
  if (status >= 200 && status < 300) return 'success';
  return status >= 500 || TEMPORARY_STATUS.has(status) ? 'temporary' : 'permanent';
}

/** The class of an exchange that had no answer. */
export function classifyError(error: unknown): OutcomeClass {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && NOT_TRUSTED.has(code) ? 'permanent' : 'temporary';
}
