import { RelayError } from '../relay.error.js';

const statuses = new WeakMap<object, number>();

/** Creates the reason of a batch that was answered with an error status. */
export function createStatusError(status: number, statusText: string): RelayError {
  const error = new RelayError('http_status', `[${status}] ${statusText}`);
  statuses.set(error, status);
  return error;
}

/** Returns the status of a reason made by {@link createStatusError}; undefined for any other. */
export function statusOf(reason: unknown): number | undefined {
  return statuses.get(reason as object);
}
