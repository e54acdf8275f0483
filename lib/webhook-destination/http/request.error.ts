import { type ErrorCode, STATUSES } from '../../client/error.codes.js';
import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import type { LimitedLogger } from '../../common/limited.logger.js';

/** Seconds until a client may try again while the queue accepts nothing. */
export const QUEUE_RETRY_AFTER = 5;

/** Seconds until a client may try again, by the status of its answer. */
const RETRY_AFTER = new Map([
  [429, 1],
  [503, QUEUE_RETRY_AFTER],
]);

/** A refused request and its answer. The code names the rule that was broken. */
export class RequestError extends RelayError {
  override readonly name = 'RequestError';

  constructor(
    code: ErrorCode,
    message: string,
    /** Path of the invalid field, if there is one. */
    readonly field?: string,
    /** HTTP status of the answer. */
    readonly status = STATUSES.get(code) ?? 400,
    /** Seconds until the caller may try again, if it may. */
    readonly retryAfter: number | undefined = RETRY_AFTER.get(status),
  ) {
    super(code, message);
  }
}

/**
 * Refuses a request that must wait.
 *
 * @param wait ms until the caller may try again; undefined if it need not wait
 * @throws {RequestError} 429
 */
export function refuseUntil(wait: number | undefined, cause: string, field: string): void {
  if (wait === undefined) return;
  const seconds = Math.ceil(wait / 1000);
  throw new RequestError('rate_limited', `${cause}; try again in ${seconds} s`, field, undefined, seconds);
}

/**
 * Refuses the fields that a request does not have.
 *
 * @param others what is left of the request without its own fields
 * @throws {RequestError} 400 that names the first
 */
export function refuseFields(others: object): void {
  const [field] = Object.keys(others);
  if (field !== undefined) throw new RequestError('field_unknown', `${field} is not a field of this request`, field);
}

/**
 * Returns the answer to an error of a request, which may come from another build of this package. The message of an
 * internal error is logged, and not shown.
 */
export function toRefusal(error: unknown, logger: LimitedLogger, what: string): RequestError {
  if (error instanceof RequestError) return error;
  const { code, message, field } = Object(error) as Pick<RequestError, 'field' | 'message'> & { code: ErrorCode };
  if (STATUSES.has(code)) return new RequestError(code, message, field);
  logger.limited('error', `A request ${what} failed: ${errorMessage(error)}`);
  return new RequestError('failed', "the request failed; see the application's log for the reason");
}
