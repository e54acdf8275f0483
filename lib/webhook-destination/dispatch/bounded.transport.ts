import { RelayError } from '../../client/relay.error.js';
import { ClosedError } from '../../common/relay.errors.js';
import { untraced } from './untraced.js';
import type {
  TargetRequest,
  TargetTransport,
  WebhookResponse,
  WebhookTransport,
} from './webhook-transport.interface.js';

/** Ends a transport's request at the deadline and at shutdown, because the transport may run the application's code. */
export class BoundedTransport implements TargetTransport {
  private end: (reason: Error) => void = () => undefined;

  /** @param release closes the transport's resources */
  constructor(
    private readonly transport: WebhookTransport,
    private readonly url: string,
    private readonly release: () => Promise<void> = () => Promise.resolve(),
  ) {}

  async post({ headers, body }: TargetRequest): Promise<WebhookResponse> {
    const abort = new AbortController();
    const ended = new Promise<never>((_resolve, reject) => {
      this.end = (reason) => {
        reject(reason);
        abort.abort(reason);
      };
    });
    try {
      const request = { url: this.url, headers: { ...headers }, body, signal: abort.signal };
      const answer = await Promise.race([untraced(() => this.transport.post(request)), ended]);
      if (Number.isInteger(answer?.status)) return answer;
      throw new RelayError('transport_failed', 'the transport resolved without a status');
    } finally {
      this.end = () => undefined;
    }
  }

  close(reason: Error = new ClosedError('the application closed')): Promise<void> {
    this.end(reason);
    return this.release();
  }
}
