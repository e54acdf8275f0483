import { X509Certificate } from 'node:crypto';

import { isProxyUrl } from '../../client/delivery/proxy-environment.util.js';
import { MAX_TIMER_DELAY } from '../../client/timer.limits.js';
import { IfGiven, Must, MustBeBoolean } from '../../common/options.rules.js';
import { isNonEmptyString, isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';
import { areNetworks } from '../network.util.js';
import { isWebhookTransport, type TransportOption } from './webhook-transport.interface.js';

/** Value of `delivery.proxy` that selects the environment variables. */
export const ENVIRONMENT = 'environment';

const NETWORKS = "be an array of networks in CIDR notation, addresses or 'localhost'";

function isTransport(value: unknown): boolean {
  if (value === 'undici' || value === 'axios' || isWebhookTransport(value)) return true;
  const token = (value as { axios?: unknown } | null | undefined)?.axios;
  return ['string', 'symbol', 'function'].includes(typeof token) && token !== '';
}

function isPem(value: unknown): boolean {
  const text = Buffer.isBuffer(value) ? value.toString() : value; // a buffer may hold DER, which TLS would not accept
  try {
    return isNonEmptyString(text) && new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

/** How the relay connects to receivers. */
export class ConnectionOptions {
  /**
   * Time limit of one request to a receiver, from name resolution to the last byte of the answer, in ms.
   * @default 5_000
   */
  @Must(
    `be a number of milliseconds above 0, at most ${MAX_TIMER_DELAY}`,
    (value) => isPositiveNumber(value) && value <= MAX_TIMER_DELAY,
  )
  timeout: number = 5_000;

  /**
   * Maximum number of open connections from this process to all receivers, including idle ones, shared fairly between
   * URLs. Never above three quarters of the files that the process may open. If several modules in a process set it,
   * the lowest value applies.
   * @default 1_024
   * @see docs/operations.md, "Connections and open files"
   */
  @IfGiven()
  @Must('be a whole number above 0', isPositiveInteger)
  maxSockets?: number;

  /**
   * Private addresses that webhooks may reach: networks in CIDR notation, addresses, and `'localhost'` for 127.0.0.0/8 and
   * ::1. With `proxy`, `['0.0.0.0/0', '::/0']` without `deniedNetworks` leaves the addresses of names to the proxy.
   * @default []
   * @see docs/network.md, "Network policy"
   */
  @Must(NETWORKS, areNetworks)
  allowedNetworks: string[] = [];

  /**
   * Public addresses that webhooks may not reach, in the same notation as `allowedNetworks`, over which they take
   * precedence.
   * @default []
   */
  @Must(NETWORKS, areNetworks)
  deniedNetworks: string[] = [];

  /**
   * Whether startup fails if a destination has an `http:` URL. Otherwise, such a URL with a public address only causes
   * a warning.
   * @default false
   */
  @MustBeBoolean()
  httpsOnly: boolean = false;

  /**
   * The http or https URL of a proxy for all connections, with credentials if needed; or `'environment'` to use
   * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, also in lower case, read at start.
   * Default: none, even if these variables are set.
   * @see docs/network.md, "Egress proxy"
   */
  @IfGiven()
  @Must(
    "be the http or https URL of a proxy, without a path, or 'environment'",
    (value) => value === ENVIRONMENT || isProxyUrl(value),
  )
  proxy?: string;

  /**
   * CA certificates trusted in addition to the public ones and those of `NODE_EXTRA_CA_CERTS`, in PEM, as strings or
   * buffers. Default: none.
   */
  @IfGiven()
  @Must('be a CA certificate in PEM, or an array of them', (value) => [value].flat().every(isPem))
  ca?: string | Buffer | (string | Buffer)[];

  /**
   * How requests are sent. `'undici'`: directly. `{ axios: token }`: with the interceptors and default headers of the
   * application's `HttpService` (`@nestjs/axios`) with this token. `'axios'`: with a separate `HttpService`. A
   * {@link WebhookTransport}: by the application, which is then responsible for the connection.
   * @default 'undici'
   * @see docs/network.md, "Transports"
   */
  @Must("be 'undici', 'axios', { axios: token of an HttpService } or a WebhookTransport", isTransport)
  transport: TransportOption = 'undici';
}
