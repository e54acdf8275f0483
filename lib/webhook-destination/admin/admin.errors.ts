import { type ErrorCode, STATUSES } from '../../client/error.codes.js';
import { errorMessage } from '../../client/error.util.js';
import type { LimitedLogger } from '../../common/limited.logger.js';
import { RequestError } from '../http/request.error.js';

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
