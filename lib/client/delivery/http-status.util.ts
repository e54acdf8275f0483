import { RelayError } from '../relay.error.js';

const statuses = new WeakMap<object, number>();

/**
 * Creates the reason of a batch that was answered with an error status.
 *
 * @param refusal what the answer says of the reason, if anything
 */
export function createStatusError(status: number, statusText: string, refusal?: string): RelayError {
  const said = refusal === undefined ? '' : `: ${refusal}`;
  const error = new RelayError('http_status', `[${status}] ${statusText}${said}`);
  statuses.set(error, status);
  return error;
}

/** Returns the status of a reason made by {@link createStatusError}; undefined for any other. */
export function statusOf(reason: unknown): number | undefined {
  return statuses.get(reason as object);
}
