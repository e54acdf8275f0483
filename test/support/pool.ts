import type { ConnectionPool } from '../../lib/webhook-destination/dispatch/connection-pool.js';
import type {
  TargetRequest,
  WebhookResponse,
} from '../../lib/webhook-destination/dispatch/webhook-transport.interface.js';

/** Makes a request through a pool; resolves with its answer. */
export function postThrough(pool: ConnectionPool, prepare: () => TargetRequest): Promise<WebhookResponse> {
  return new Promise((answer, fail) => pool.post({ prepare, answer, fail }));
}
