import { ADDRESS_NOT_ALLOWED } from '../../common/relay.errors.js';
import type { AttemptRecord, KeptAnswer, OutcomeClass } from '../queue/attempt-record.interface.js';

/** Why there was no whole answer, in one word: what the network is made of is the operator's. */
export type AttemptError = 'unreachable' | 'timeout' | 'certificate';

/** An attempt as a tenant sees it. */
export interface ShownAttempt {
  /** In ms since the epoch. */
  at: number;
  outcome: OutcomeClass;
  /** HTTP status of the answer, if there was one. */
  status?: number | undefined;
  error?: AttemptError | undefined;
  /** In ms. */
  duration: number;
  answer?: KeptAnswer | undefined;
}

/** Matches the errors of Node for names and connections, which may quote the name of any host. */
const UNREACHABLE = /\b(EAI_AGAIN|ENOTFOUND|ENODATA|ESERVFAIL|ECONN\w+|E(HOST|NET)\w+|EPIPE)\b/;

const TIMEOUT = /^timeout|ETIMEDOUT|timed? ?out/i;

/** Matches the errors of Node for certificates and TLS. */
const CERTIFICATE = /certificate|altnames|\bCERT_|self.signed|\bSSL\b|\bTLS\b|EPROTO/i;

/** Returns the result of an attempt: of several URLs, of the one that succeeded, or else of the first. */
export function showAttempt({ startedAt, results }: AttemptRecord): ShownAttempt {
  const result = results.find(({ outcome }) => outcome === 'success') ?? results[0];
  // Without a result, a `transform` sent nothing.
  const { outcome, status, error, duration, answer } = result ?? { outcome: 'success', duration: 0 };
  return {
    at: startedAt,
    outcome: isRefused(error) ? 'temporary' : outcome, // as for a name without an address
    status,
    error: error === undefined ? undefined : toWord(error),
    duration,
    answer,
  };
}

/** Returns the word for a stored error. */
export function toWord(error: string): AttemptError {
  if (isRefused(error) || UNREACHABLE.test(error)) return 'unreachable';
  if (TIMEOUT.test(error)) return 'timeout';
  return CERTIFICATE.test(error) ? 'certificate' : 'unreachable';
}

/** Whether the network policy refused the address, which a tenant is not told. */
function isRefused(error = ''): boolean {
  return error.startsWith(ADDRESS_NOT_ALLOWED);
}
