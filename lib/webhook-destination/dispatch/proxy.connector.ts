import { isIP, type Socket } from 'node:net';

// By its file: Bun has something of its own under the name 'undici', which connects to nothing.
import { type buildConnector, Client, type Dispatcher } from 'undici/index.js';

import { RelayError } from '../../client/relay.error.js';
import { errorMessage } from '../../common/error.util.js';
import type { EgressProxy } from './egress-proxy.js';
import { guardedConnector, verifyingConnector } from './guarded.connector.js';
import { NetworkPolicy } from './network.policy.js';

const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/**
 * Connects through a proxy, with `CONNECT` for http and https alike: TLS is between the relay and the receiver, whose
 * certificate is verified as without a proxy.
 *
 * The policy holds for what the proxy is asked for, as far as its addresses are known here. The proxy itself is the
 * operator's choice: of the policy, only the denied networks hold for its address.
 */
export function proxyConnector(
  proxy: EgressProxy,
  policy: NetworkPolicy,
  { timeout, ca, deniedNetworks }: { timeout: number; ca?: string | string[]; deniedNetworks: string[] },
): buildConnector.connector {
  const toProxy = guardedConnector(new NetworkPolicy(EVERYWHERE, deniedNetworks), timeout, ca);
  const toReceiver = verifyingConnector(timeout, ca);

  async function connect({ hostname, port, protocol }: buildConnector.Options): Promise<Socket> {
    const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
    const refused = await refusedAddress(policy, new URL(`${protocol}//${host}`));
    if (refused !== undefined) throw policy.refusal(refused);
    return tunnel(proxy, toProxy, `${host}:${port || (protocol === 'https:' ? 443 : 80)}`, timeout);
  }

  return (options, callback) => {
    connect(options).then(
      (socket) => {
        if (options.protocol === 'https:') toReceiver({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** An address by which the policy refuses a host, as the proxy may use any; none of a name that is unknown here. */
async function refusedAddress(policy: NetworkPolicy, url: URL): Promise<string | undefined> {
  const addresses = await policy.addressesOf(url).catch((): string[] => []);
  return addresses.find((address) => !policy.allows(address));
}

/** A connection to `authority` that the proxy has made. */
async function tunnel(
  proxy: EgressProxy,
  connect: buildConnector.connector,
  authority: string,
  timeout: number,
): Promise<Socket> {
  const client: Dispatcher = new Client(proxy.origin, {
    // undici takes the name in a request's Host header, the receiver's, for that of the TLS server.
    connect: (options, callback) => connect({ ...options, servername: undefined }, callback),
    headersTimeout: 0,
  });
  try {
    const { statusCode, socket } = await client.connect({
      origin: proxy.origin,
      path: authority,
      headers: proxy.headersFor(authority),
      signal: AbortSignal.timeout(timeout),
    });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.destroy();
    throw new RelayError('proxy_failed', `it answered ${statusCode}`);
  } catch (error) {
    // Not with the error's own code: undici reconnects at some codes, and others would count as the receiver's.
    const fault = `the proxy ${proxy.origin} made no connection to ${authority}: ${errorMessage(error)}`;
    throw new RelayError('proxy_failed', fault, { cause: error });
  } finally {
    void client.destroy();
  }
}
