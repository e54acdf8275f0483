import { fetchErrorMessage } from '../client/error.util.js';
import { RelayError } from '../client/relay.error.js';
import { parseJson } from '../common/value.util.js';
import { type ApiCaller, toTarget } from '../webhook-destination/admin/mcp/api-caller.interface.js';

const TIMEOUT = 30_000;

/** Calls the admin API of a relay over HTTP. */
export class AdminClient implements ApiCaller {
  private readonly base: string;

  /** @param url of the dashboard, as a browser shows it */
  constructor(
    url: string,
    private readonly token: string,
  ) {
    const { origin, pathname } = new URL(url);
    this.base = `${origin}${pathname.replace(/\/+$/, '')}/api/`;
  }

  /** @throws {RelayError} with the message of the answer, or of the connection */
  get(path: string, query: Record<string, unknown> = {}): Promise<unknown> {
    return this.send('GET', toTarget(path, query), path);
  }

  /** As {@link get}. */
  post(path: string, body: unknown): Promise<unknown> {
    return this.send('POST', path, path, JSON.stringify(body));
  }

  private async send(method: string, target: string, path: string, body?: string): Promise<unknown> {
    const subject = `${method} ${this.base}${path}`;
    const headers = { authorization: `Bearer ${this.token}`, ...(body && { 'content-type': 'application/json' }) };
    let status: number;
    let text: string;
    try {
      const signal = AbortSignal.timeout(TIMEOUT);
      const url = this.base + target;
      // A redirect would send the token elsewhere.
      const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
      status = response.status;
      text = await response.text();
    } catch (error) {
      throw new RelayError('http_client_failed', `${subject}: ${fetchErrorMessage(error)}`, { cause: error });
    }
    const answer = parseJson(text);
    if (status >= 200 && status < 300 && typeof answer === 'object' && answer !== null) return answer;
    const { message } = Object(answer) as { message?: string };
    const advice = '; the URL must be that of the dashboard, such as http://localhost:3000/relay';
    throw new RelayError('http_status', `${subject}: status ${status}${message ? `, ${message}` : advice}`);
  }
}
