import type {
  WebhookRequest,
  WebhookResponse,
  WebhookTransport,
} from '../../lib/webhook-destination/transport/webhook-transport.interface.js';
import type { Ledger } from './ledger.js';
import type { RelayProcess } from './relay-process.js';
import type { Simulation } from './simulation.js';

/** What a receiver does with a webhook. */
export const BEHAVIOURS = ['answer', 'fail', 'refuse', 'hang', 'drip', 'reject', 'busy', 'shout'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** What a busy receiver asks for, in s. */
const RETRY_AFTER = [5, 20, 60];

/** The receivers, and the way there. */
export class SimulatedNetwork {
  /** By URL; receivers without one answer. */
  readonly behaviours = new Map<string, Behaviour>();

  constructor(
    private readonly simulation: Simulation,
    private readonly ledger: Ledger,
    private readonly timeout: number,
  ) {}

  transportOf(process: RelayProcess): WebhookTransport {
    return { post: (request) => this.post(process, request) };
  }

  private post(process: RelayProcess, request: WebhookRequest): Promise<WebhookResponse> {
    const { simulation } = this;
    const record = this.ledger.requested(process, request);
    this.ledger.connected(process, 1);
    let isOpen = true;
    const close = () => {
      if (isOpen) this.ledger.connected(process, -1);
      isOpen = false;
    };
    request.signal.addEventListener('abort', close, { once: true });
    return new Promise((resolve, reject) => {
      const answer = (delay: number, status: number, headers?: Record<string, string>) => {
        record.status = status;
        record.arrived = simulation.now + delay;
        simulation.after(delay, process, 'answer', () => {
          record.read = simulation.now;
          close();
          resolve({ status, ...(headers && { headers }) });
        });
      };
      const fail = (delay: number, error: Error) =>
        void simulation.after(delay, process, 'answer', () => {
          close();
          reject(error);
        });
      const { random } = simulation;
      simulation.after(random.next() * 20, undefined, 'answer', () => {
        const way = random.next() * 40;
        switch (this.behaviours.get(request.url) ?? 'answer') {
          case 'answer':
            return answer(way, random.pick([200, 202, 204]));
          case 'fail':
            return answer(way, random.pick([500, 502, 408]));
          case 'refuse':
            return fail(way, Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
          case 'hang':
            return;
          case 'drip':
            return answer(random.next() * this.timeout * 1.5, 200);
          case 'reject':
            return answer(way, random.pick([400, 410]));
          case 'shout':
            return fail(way, new Error('!'.repeat(5_000)));
          case 'busy': {
            const seconds = random.pick(RETRY_AFTER);
            record.retryAfter = seconds * 1_000;
            return answer(way, random.pick([429, 503]), { 'retry-after': String(seconds) });
          }
        }
      });
    });
  }
}
