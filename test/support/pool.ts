import type { ConnectionPool } from '../../lib/webhook-destination/transport/connection-pool.js';
import type {
  TargetRequest,
  WebhookResponse,
} from '../../lib/webhook-destination/transport/webhook-transport.interface.js';

/** Makes a request through a pool; resolves with its answer. */
export function postThrough(pool: ConnectionPool, prepare: () => TargetRequest): Promise<WebhookResponse> {
  return new Promise((answer, fail) => pool.post({ prepare, answer, fail }));
}
