import { setTimeout as sleep } from 'node:timers/promises';

import { RateLimiter } from './rate.limiter.js';
import { refuseUntil, RequestError } from './request.error.js';

/** Wrong tokens allowed for an address. */
const OF_ADDRESS = { limit: 10, ttl: 60_000 };

/** Wrong tokens allowed for all addresses together. */
const OF_ALL = { limit: 100, ttl: 60_000 };

/** Sign-ins allowed for a token and an address. */
const OF_TOKEN = { limit: 10, ttl: 60_000 };

/** Delay of the answer to a wrong token, in ms. */
const DELAY = 250;

/**
 * Limits the work and the log lines that wrong tokens cause. They are answered late, and beyond the limits with 429. The
 * right token is never refused because of wrong ones, so nobody can lock out its holder; it is its length that
 * prevents guessing. Sign-ins are limited for each token and address, because each writes to the store.
 */
export class SignInLimit {
  private readonly ofAddress = new RateLimiter(OF_ADDRESS);
  private readonly ofToken = new RateLimiter(OF_TOKEN);
  private readonly ofAll = new RateLimiter(OF_ALL);

  /** @param kind whose tokens they are, in messages and codes */
  constructor(private readonly kind: 'admin' | 'portal') {}

  /**
   * Counts a sign-in with the right token.
   *
   * @throws {RequestError} 429 beyond the limit
   */
  count(holder: string, address: string): void {
    const wait = this.ofToken.count(JSON.stringify([holder, address]));
    refuseUntil(wait, `too many sign-ins with this ${this.kind} token from this address`, 'token');
  }

  /**
   * Refuses a wrong token.
   *
   * @throws {RequestError} 401, or 429 beyond the limits
   */
  async refuse(address: string): Promise<never> {
    const { kind } = this;
    refuseUntil(this.ofAddress.count(address), `too many wrong ${kind} tokens from this address`, 'Authorization');
    refuseUntil(this.ofAll.count(''), `too many wrong ${kind} tokens`, 'Authorization');
    await sleep(DELAY, undefined, { ref: false });
    throw new RequestError(`${kind}_token_wrong`, `the ${kind} token is wrong`, 'Authorization');
  }
}
