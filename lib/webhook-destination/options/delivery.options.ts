import { X509Certificate } from 'node:crypto';

import { IfGiven, Must } from '../../common/options.rules.js';
import { isNonEmptyString, isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';
import { isNetwork } from '../dispatch/network.policy.js';
import { isRetryOn, type RetryOn } from '../dispatch/url.outcome.js';

const MILLISECONDS = 'be a number of milliseconds above 0';

/** Longest delay that a timer takes, in ms. */
const MAX_TIMER_DELAY = 2 ** 31 - 1;

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
  @Must(
    "be an array of networks in CIDR notation, addresses or 'localhost'",
    (value) => Array.isArray(value) && value.every(isNetwork),
  )
  allowedNetworks: string[] = [];

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
   * How requests go out: `undici`, or `axios` for `HttpService` of `@nestjs/axios`, with its interceptors and proxy.
   * @default 'undici'
   */
  @Must("be 'undici' or 'axios'", (value) => value === 'undici' || value === 'axios')
  transport: 'undici' | 'axios' = 'undici';
}
