import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import type { LimitedLogger } from '../../common/limited.logger.js';
import { QUEUE_RETRY_AFTER, RequestError } from '../http/request.error.js';

/** HTTP status by the code of a `RelayError`; any other code is an internal error. */
const STATUSES: Record<string, number> = {
  options_invalid: 400,
  argument_invalid: 400,
  source_unknown: 404,
  destination_unknown: 404,
  source_exists: 409,
  destination_exists: 409,
  registry_read_only: 409,
  registry_conflict: 409,
  registry_unreadable: 409,
  not_delivering: 409,
  queue_unavailable: 503,
  queue_full: 503,
  closed: 503,
  starting: 503,
};

/** Returns the answer to an error of a request. The message of an internal error is logged, and not shown. */
export function toRefusal(error: unknown, logger: LimitedLogger, what: string): RequestError {
  if (error instanceof RequestError) return error;
  const status = error instanceof RelayError ? STATUSES[error.code] : undefined;
  if (status === undefined) {
    logger.limited('error', `A request ${what} failed: ${errorMessage(error)}`);
    return new RequestError(500, 'failed', "the request failed; see the application's log for the reason");
  }
  const { code, message, field } = error as RelayError & { field?: string };
  return new RequestError(status, code, message, field, status === 503 ? QUEUE_RETRY_AFTER : undefined);
}
