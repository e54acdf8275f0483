import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { RateLimiter } from '../ingest/rate.limiter.js';
import { RecentSet } from '../ingest/recent-set.js';
import { RequestError } from '../ingest/request.error.js';

/** Wrong tokens of an address. */
const WRONG_TOKENS = { limit: 10, ttl: 60_000 };

/** How long a wrong token waits for its answer, in ms. */
const DELAY = 250;

/** Pairs of address and token that are remembered. */
const MAX_PAIRS = 1_000;

/** Slows guessing: wrong tokens are answered late, and after ten in a minute the address must wait. */
export class SignInLimit {
  private readonly limiter = new RateLimiter(WRONG_TOKENS);
  /** Right tokens by address: they go on where another client at the address, or behind its proxy, guesses. */
  readonly #known = new RecentSet(MAX_PAIRS);

  /**
   * Judges a sign-in.
   *
   * @param check whether the token is right; called unless the address must wait
   * @throws {RequestError} 401 for a wrong one, 429 where the address must wait
   */
  async admit<T>(address: string, token: string, check: () => T | undefined): Promise<T> {
    const pair = `${address} ${createHash('sha256').update(token).digest('base64')}`;
    if (!this.#known.has(pair)) this.refuseUntil(this.limiter.wait(address));
    const found = check();
    if (found !== undefined) {
      this.#known.add(pair);
      return found;
    }
    this.refuseUntil(this.limiter.count(address));
    await sleep(DELAY, undefined, { ref: false });
    throw new RequestError(401, 'admin_token_wrong', 'the admin token is wrong', 'Authorization');
  }

  private refuseUntil(wait: number | undefined): void {
    if (wait === undefined) return;
    const seconds = Math.ceil(wait / 1_000);
    const rule = `the address has sent too many wrong admin tokens, and must wait ${seconds} s`;
    throw new RequestError(429, 'rate_limited', rule, 'Authorization', seconds);
  }
}
