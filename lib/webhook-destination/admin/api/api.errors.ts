import { RelayError } from '../../../client/relay.error.js';
import { QUEUE_RETRY_AFTER, RequestError } from '../../ingest/request.error.js';

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
  closed: 503,
  starting: 503,
};

/** Returns the answer to an error of a route; undefined for an internal error, whose message must not be shown. */
export function toRefusal(error: unknown): RequestError | undefined {
  if (isRequestError(error)) return error;
  if (!(error instanceof RelayError)) return undefined;
  const status = STATUSES[error.code];
  if (status === undefined) return undefined;
  const { field } = error as { field?: string };
  return new RequestError(status, error.code, error.message, field, status === 503 ? QUEUE_RETRY_AFTER : undefined);
}

function isRequestError(error: unknown): error is RequestError {
  return error instanceof RequestError;
}
