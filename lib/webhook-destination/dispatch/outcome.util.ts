import type { AttemptRecord, OutcomeClass, UrlResult } from '../queue/attempt-record.interface.js';
import { ADDRESS_NOT_ALLOWED } from '../../common/relay.errors.js';
import { ABORTED, ALL_FAILED, WINDOW_OVER } from '../queue/dead-reasons.js';
import type { DeliveryOutcome } from '../queue/delivery.interface.js';
import { withoutAnswers } from '../queue/kept-answers.util.js';
import type { WebhookResponse } from '../transport/webhook-transport.interface.js';
import type { Attempt, SendResult } from './attempt.js';
import type { DeliveryOptions } from './delivery.options.js';
import { nextAttemptAt } from './retry-schedule.util.js';

/** Statuses with which a `Retry-After` is for all requests, and not for one message. */
const PAUSING_STATUS = new Set([429, 503]);

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
function isFailure(status: number): boolean {
  return status >= 500 || TEMPORARY_STATUS.has(status);
}

/** Returns what the headers of an answer ask for. */
export function askedIn(headers: WebhookResponse['headers']): UrlResult['asked'] {
  const given = headers?.['webhook-delivery'];
  if (given === undefined) return undefined;
  const text = String(given).trim().toLowerCase();
  return text === 'disable' || text === 'abort-message' ? text : undefined;
}

/** Returns the outcome class of an exchange without an answer. */
export function classifyError(error: unknown): OutcomeClass {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && NOT_TRUSTED.test(code) ? 'permanent' : 'temporary';
}

/**
 * Returns the outcome of a delivery from each URL's result of one attempt.
 *
 * @param now returns the queue's time, in ms since the epoch
 * @param extension how much longer the retry window is than `retryWindow`, in ms
 * @see docs/specification.md, "Delivery attempts"
 */
export function judgeAttempt(
  { delivery, declined, startedAt, isLast }: Pick<Attempt, 'delivery' | 'declined' | 'startedAt' | 'isLast'>,
  sent: SendResult[],
  options: DeliveryOptions,
  now: () => number,
  extension: number,
): DeliveryOutcome {
  const attempt = { startedAt, results: sent.map(({ result }) => result) };
  if (sent.some(({ result }) => result.outcome === 'success')) {
    return { state: 'delivered', attempt: withoutAnswers(attempt) };
  }

  const { attempts, firstAttemptAt = startedAt } = delivery;
  const ended = (outcome: string) => sent.filter(({ result }) => result.outcome === outcome);
  const failedUrls = [...delivery.failedUrls, ...ended('permanent').map(({ urlId }) => urlId)];
  const retryable = ended('temporary');
  if (retryable.length === 0 && declined > 0) return { state: 'waiting', attempt, nextAttemptAt: now(), failedUrls };
  // Attempts before this window were made before the delivery was replayed.
  const ofWindow = [...attempts.filter((earlier) => earlier.startedAt >= firstAttemptAt), attempt];
  if (retryable.length === 0) {
    return { state: 'dead', attempt, reason: reasonOf(ofWindow), failedUrls };
  }

  const endedAt = now();
  const next = nextAttemptAt(
    {
      startedAt,
      now: endedAt,
      attempts: ofWindow.length,
      firstAttemptAt: firstAttemptAt + extension,
      // The earliest Retry-After applies, so one URL does not delay the others. It is converted to the queue's time.
      retryAfter: Math.min(...retryable.map(({ retryAfter }) => retryAfter ?? 0)) + endedAt - Date.now(),
    },
    options,
  );
  if (isLast || next === undefined) return { state: 'dead', attempt, reason: WINDOW_OVER, failedUrls };
  return { state: 'waiting', attempt, nextAttemptAt: next, failedUrls };
}

/**
 * Returns until when the receivers of a failed attempt asked for no requests, by the queue's time, but for no longer than
 * its delivery waits. If one of several URLs may be tried earlier, that is until then; now if one of them did not ask.
 */
export function requestedPause(
  sent: SendResult[],
  outcome: Exclude<DeliveryOutcome, { state: 'delivered' }>,
  now: number,
  retryWindow: number,
): number {
  const asked = sent
    .filter(({ result }) => result.outcome === 'temporary')
    .map(({ result, retryAfter = 0 }) => (PAUSING_STATUS.has(result.status ?? 0) ? retryAfter : 0));
  if (asked.length === 0) return now;
  const end = outcome.state === 'waiting' ? outcome.nextAttemptAt : now + retryWindow;
  return Math.min(now + Math.max(0, Math.min(...asked) - Date.now()), end);
}

/** Returns why a delivery is dead that no URL is tried again with. */
function reasonOf(attempts: AttemptRecord[]): string {
  const results = attempts.flatMap((attempt) => attempt.results);
  if (results.some(({ error }) => error?.startsWith(ADDRESS_NOT_ALLOWED))) return ADDRESS_NOT_ALLOWED;
  return results.some(({ asked }) => asked === 'abort-message') ? ABORTED : ALL_FAILED;
}

/**
 * Returns whether a receiver refused this message and no URL failed: the destination is then up, even if the message is
 * retried. Otherwise one kind of message could hold back all others for hours.
 */
export function refuses(sent: SendResult[]): boolean {
  return (
    sent.some(({ result }) => result.status !== undefined) &&
    sent.every(({ result: { status, outcome } }) =>
      status === undefined ? outcome === 'permanent' : !isFailure(status),
    )
  );
}
