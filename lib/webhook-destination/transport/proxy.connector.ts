import { isIP, type Socket } from 'node:net';

// Imported by file: Bun replaces the name 'undici' with a module of its own, which connects to nothing.
import { type buildConnector, Client, type Dispatcher } from 'undici/index.js';

import { environmentProxy } from '../../client/delivery/proxy-environment.util.js';
import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import { within } from '../../common/promise.util.js';
import { type ConnectionOptions, ENVIRONMENT } from './connection.options.js';
import { guardedConnector, verifyingConnector } from './guarded.connector.js';
import { EVERYWHERE, NetworkPolicy } from './network.policy.js';
import { basicAuthorization } from './webhook-target.js';

/** Share of the timeout of a request in which addresses may be looked up. */
const LOOKUP_SHARE = 0.5;

const ONLY_PROXY_KNOWS =
  'If only the proxy can look names up, ' +
  `set delivery.allowedNetworks: ['${EVERYWHERE.join("', '")}'] without deniedNetworks, and let the proxy enforce the policy`;

/** Returns the proxy for a URL; undefined for a direct connection. */
export type ProxyChoice = (url: URL) => EgressProxy | undefined;

/** A proxy for connections. Its credentials are private, so inspecting the object does not show them. */
export class EgressProxy {
  readonly origin: string;
  readonly #authorization: string | undefined;

  /** @param url a URL that {@link isProxyUrl} accepts */
  constructor(url: string) {
    const parsed = new URL(url);
    this.origin = parsed.origin;
    this.#authorization = basicAuthorization(parsed);
  }

  /** Returns the headers of a request for a connection to `authority`. */
  headersFor(authority: string): Record<string, string> {
    return { host: authority, ...(this.#authorization && { 'proxy-authorization': this.#authorization }) };
  }
}

/** Returns the proxy choice for `delivery.proxy`. It has read the environment. */
export function proxyChoice(option: string | undefined): ProxyChoice {
  if (option === undefined) return () => undefined;
  if (option === ENVIRONMENT) return environmentProxy((url) => new EgressProxy(url));
  const proxy = new EgressProxy(option);
  return () => proxy;
}

/**
 * Connects through a proxy, with `CONNECT` for http and https. TLS is between the relay and the receiver, whose
 * certificate is verified as without a proxy.
 *
 * The policy applies to the receiver: unless it allows every address, nothing goes to a name whose addresses are not
 * all known here. The proxy itself is the operator's choice: only the denied networks of the policy apply to its
 * address.
 */
export function proxyConnector(
  proxy: EgressProxy,
  policy: NetworkPolicy,
  { timeout, ca, deniedNetworks }: Pick<ConnectionOptions, 'timeout' | 'ca' | 'deniedNetworks'>,
): buildConnector.connector {
  const toProxy = guardedConnector(new NetworkPolicy(EVERYWHERE, deniedNetworks), timeout, ca);
  const toReceiver = verifyingConnector(timeout, ca);

  /** The proxy may use any of the addresses, so all must be known: the receiver's name server decides what is answered here. */
  async function checkAddresses(url: URL): Promise<void> {
    const look = within(timeout * LOOKUP_SHARE, policy.addressesOf(url, true), 'the look-up');
    const addresses = await look.catch((error: unknown) => {
      const fault = `not all addresses of ${url.hostname} are known here: ${errorMessage(error)}. ${ONLY_PROXY_KNOWS}`;
      throw new RelayError('proxy_failed', fault, { cause: error });
    });
    const refused = addresses.find((address) => !policy.allows(address));
    if (refused !== undefined) throw policy.refusal(refused);
  }

  async function connect({ hostname, port, protocol }: buildConnector.Options): Promise<Socket> {
    const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
    if (!policy.allowsEverything) await checkAddresses(new URL(`${protocol}//${host}`));
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

/** Opens a connection to `authority` through the proxy. */
async function tunnel(
  proxy: EgressProxy,
  connect: buildConnector.connector,
  authority: string,
  timeout: number,
): Promise<Socket> {
  const client: Dispatcher = new Client(proxy.origin, {
    // undici would use the request's Host header, which names the receiver, as the TLS server name of the proxy.
    connect: (options, callback) => connect({ ...options, servername: undefined }, callback),
    headersTimeout: timeout,
  });
  try {
    const { statusCode, socket } = await client.connect({
      origin: proxy.origin,
      path: authority,
      headers: proxy.headersFor(authority),
    });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.destroy();
    throw new RelayError('proxy_failed', `it answered ${statusCode}`);
  } catch (error) {
    // The error's own code is not kept: undici reconnects on some codes, and others would count as the receiver's.
    // Tenants, who may see the message, must not learn the proxy's name.
    const reason = errorMessage(error).replaceAll(new URL(proxy.origin).hostname, 'the proxy');
    const fault = `the proxy could not connect to ${authority}: ${reason}`;
    throw new RelayError('proxy_failed', fault, { cause: error });
  } finally {
    void client.destroy();
  }
}
