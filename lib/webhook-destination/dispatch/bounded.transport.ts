import { RelayError } from '../../client/relay.error.js';
import { ClosedError } from '../../common/relay.errors.js';
import {
  type TargetRequest,
  type TargetTransport,
  type WebhookResponse,
  timeoutError,
  type WebhookTransport,
} from './webhook-transport.interface.js';

/** Ends the requests of a transport, which may run the application's code, at the deadline and at shutdown. */
export class BoundedTransport implements TargetTransport {
  private readonly pending = new Set<(reason: Error) => void>();
  private closed = false;

  /**
   * @param timeout longest exchange, in ms
   * @param release closes the transport's resources
   */
  constructor(
    private readonly transport: WebhookTransport,
    private readonly url: string,
    private readonly timeout: number,
    private readonly release: () => Promise<void> = () => Promise.resolve(),
  ) {}

  async post({ headers, body }: TargetRequest, waited = 0): Promise<WebhookResponse> {
    if (this.closed) throw new ClosedError('the transport is closed');
    const abort = new AbortController();
    let end!: (reason: Error) => void;
    const ended = new Promise<never>((_resolve, reject) => {
      end = (reason) => {
        reject(reason);
        abort.abort(reason);
      };
    });
    this.pending.add(end);
    const deadline = setTimeout(() => end(timeoutError(this.timeout)), this.timeout - waited);
    try {
      const request = { url: this.url, headers: { ...headers }, body, signal: abort.signal };
      const answer = await Promise.race([this.transport.post(request), ended]);
      if (!Number.isInteger(answer?.status))
        throw new RelayError('transport_failed', 'the transport resolved without a status');
      return answer;
    } finally {
      clearTimeout(deadline);
      this.pending.delete(end);
    }
  }

  close(): Promise<void> {
    this.closed = true;
    for (const end of this.pending) end(new ClosedError('the application closed'));
    return this.release();
  }
}
