import { errorMessage, fetchErrorMessage } from '../error.util.js';
import type { Endpoint } from '../event/endpoint.interface.js';
import { statusOf } from './http-status.util.js';

/**
 * Describes lost events in one line: their number, where they were to go, why they are lost, and what to do.
 *
 * @param endpoint where they were to be posted; undefined if no HTTP is involved
 */
export function describeUndelivered(count: number, reason: unknown, endpoint: Endpoint | undefined): string {
  if (!endpoint) return `Events not delivered: ${count} (${errorMessage(reason)})`;
  const remedy = remedyOf(statusOf(reason), endpoint);
  return `Events not delivered to ${endpoint.origin}: ${count} (${fetchErrorMessage(reason)})${remedy}`;
}

function remedyOf(status: number | undefined, { isDefault }: Endpoint): string {
  if (status === 401) return '. Set writeKey to the write key of one of its sources';
  if (status === 404 && isDefault) return '. host is not set: set it to the address of the relay';
  return '';
}
