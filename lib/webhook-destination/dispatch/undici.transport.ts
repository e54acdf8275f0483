import { rootCertificates } from 'node:tls';

import { Agent, buildConnector } from 'undici';

import { AddressNotAllowedError, type NetworkPolicy } from './network.policy.js';
import type { WebhookRequest, WebhookResponse, WebhookTransport } from './webhook-transport.interface.js';

/** Most that is read of an answer before its connection is given up, in bytes. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The default transport: pooled keep-alive connections. */
export class UndiciTransport implements WebhookTransport {
  private readonly agent: Agent;

  /**
   * @param connections to one origin, at most
   * @param ca certificates of authorities trusted besides the public ones, PEM
   */
  constructor(policy: NetworkPolicy, connections: number, ca: string | string[] | undefined) {
    // The caller's signal is the one deadline: a pair of timeouts would let a dripping answer stay open.
    this.agent = new Agent({
      connections,
      connect: guardedConnector(policy, ca),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send({ target: { origin, path }, headers, body, signal }: WebhookRequest): Promise<WebhookResponse> {
    const response = await this.agent.request({ origin, path, method: 'POST', headers, body, signal });
    await response.body.dump({ limit: MAX_RESPONSE_BYTES, signal });
    const retryAfter = response.headers['retry-after'];
    return { status: response.statusCode, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/** Connects to allowed addresses only. The socket is asked too: a look-up is not made for an address in the URL. */
function guardedConnector(policy: NetworkPolicy, ca: string | string[] | undefined): buildConnector.connector {
  const trusted = ca === undefined ? undefined : [...rootCertificates, ...[ca].flat()];
  const connect = buildConnector({
    ca: trusted,
    lookup: policy.lookup,
    rejectUnauthorized: true,
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      const address = socket.remoteAddress;
      if (address !== undefined && policy.allows(address)) return callback(null, socket);
      socket.destroy();
      callback(new AddressNotAllowedError(address ?? 'unknown'), null);
    });
}
