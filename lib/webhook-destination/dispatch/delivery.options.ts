import { X509Certificate } from 'node:crypto';

import { MAX_TIMER_DELAY } from '../../client/timer.limits.js';
import { areNetworks } from '../../common/network.util.js';
import { IfGiven, Must } from '../../common/options.rules.js';
import { isNonEmptyString, isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';
import { ENVIRONMENT, isProxyUrl } from './egress.proxy.js';
import { isWebhookTransport, type TransportOption } from './webhook-transport.interface.js';
import { isRetryOn, type RetryOn } from './url.outcome.js';

const NETWORKS = "be an array of networks in CIDR notation, addresses or 'localhost'";

const MILLISECONDS = 'be a number of milliseconds above 0';

function isTransport(value: unknown): boolean {
  if (value === 'undici' || value === 'axios' || isWebhookTransport(value)) return true;
  const token = (value as { axios?: unknown } | null | undefined)?.axios;
  return ['string', 'symbol', 'function'].includes(typeof token) && token !== '';
}

function isPem(value: unknown): boolean {
  try {
    return isNonEmptyString(value) && new X509Certificate(value).subject !== undefined;
  } catch {
    return false;
  }
}

/** How messages are sent and sent again (§4.1, §7, §8). */
export class DeliveryOptions {
  /**
   * Longest exchange with a receiver, from the look-up of its name to the last byte of its answer, in ms (§8).
   * @default 5_000
   */
  @Must(
    `be a number of milliseconds above 0, ${MAX_TIMER_DELAY} at most`,
    (value) => isPositiveNumber(value) && value <= MAX_TIMER_DELAY,
  )
  timeout: number = 5_000;

  /**
   * How long a delivery is tried, in ms from its first attempt (§8).
   * @default 14_400_000 (4 hours)
   */
  @Must(MILLISECONDS, isPositiveNumber)
  retryWindow: number = 14_400_000;

  /**
   * Wait before the second attempt, in ms; doubled for each one after it.
   * @default 10_000
   */
  @Must(MILLISECONDS, isPositiveNumber)
  initialRetryDelay: number = 10_000;

  /**
   * Longest wait between two attempts, in ms.
   * @default 1_800_000 (30 minutes)
   */
  @Must(MILLISECONDS, isPositiveNumber)
  maxRetryDelay: number = 1_800_000;

  /**
   * Deliveries in flight for each destination.
   * @default 64
   */
  @Must('be a whole number above 0', isPositiveInteger)
  concurrency: number = 64;

  /**
   * Open connections of the process to all receivers together, idle ones included; shared fairly between the URLs. Never
   * above three quarters of the files that the process may open. Where several modules of a process set it, the lowest
   * counts.
   * @default 1_024
   */
  @IfGiven()
  @Must('be a whole number above 0', isPositiveInteger)
  maxSockets?: number;

  /**
   * What webhooks may reach although it is not public: networks in CIDR notation, addresses, and `'localhost'` for
   * 127.0.0.0/8 and ::1.
   * @default []
   */
  @Must(NETWORKS, areNetworks)
  allowedNetworks: string[] = [];

  /**
   * What webhooks may not reach, besides what is not public: written as in `allowedNetworks`, over which it wins.
   * @default []
   */
  @Must(NETWORKS, areNetworks)
  deniedNetworks: string[] = [];

  /**
   * Whether a destination with an `http:` URL stops the start. Without it, such a URL of a public address is a warning.
   * @default false
   */
  @Must('be a boolean', (value) => typeof value === 'boolean')
  httpsOnly: boolean = false;

  /**
   * The http or https URL of a proxy that all connections go through, with credentials in it if need be; or
   * `'environment'` for `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, also in lower case, as they are at start.
   * Default: none, whatever the environment has.
   */
  @IfGiven()
  @Must(
    "be the http or https URL of a proxy, without a path, or 'environment'",
    (value) => value === ENVIRONMENT || isProxyUrl(value),
  )
  proxy?: string;

  /** Certificates of authorities trusted besides the public ones, PEM. Default: none. */
  @IfGiven()
  @Must('be a CA certificate in PEM, or an array of them', (value) => [value].flat().every(isPem))
  ca?: string | string[];

  /**
   * Which answers are tried again: `'spec'` those of §7 (5xx, 408, 425, 429), `'any-failure'` every status but 2xx, for
   * receivers that answer 404 during a deployment. Redirects are never followed; a certificate that is not trusted and
   * an address that is not allowed are not tried again in either case.
   * @default 'spec'
   */
  @Must("be 'spec' or 'any-failure'", isRetryOn)
  retryOn: RetryOn = 'spec';

  /**
   * How requests go out: `'undici'`; `{ axios: token }` for the interceptors and default headers of the application's
   * `HttpService` (`@nestjs/axios`) with this token; `'axios'` for one of its own; or a {@link WebhookTransport} of the
   * application's, which takes over the guarantees named there.
   * @default 'undici'
   */
  @Must("be 'undici', 'axios', { axios: token of an HttpService } or a WebhookTransport", isTransport)
  transport: TransportOption = 'undici';
}
