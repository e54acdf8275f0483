import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { RateLimiter, RecentSet } from '../http/rate.limiter.js';
import { refuseUntil, RequestError } from '../http/request.error.js';

/** Wrong tokens allowed for an address. */
const WRONG_TOKENS = { limit: 10, ttl: 60_000 };

const WRONG_TOKENS_SENT = 'too many wrong admin tokens from this address';

/** Delay of the answer to a wrong token, in ms. */
const DELAY = 250;

/** Number of address and token pairs to remember. */
const MAX_PAIRS = 1_000;

/** Slows down guessing: wrong tokens are answered late, and after ten in a minute the address must wait. */
export class SignInLimit {
  private readonly limiter = new RateLimiter(WRONG_TOKENS);
  /**
   * Valid tokens by address: they keep working while another client at the same address, or behind its proxy, guesses.
   */
  readonly #known = new RecentSet(MAX_PAIRS);

  /**
   * Checks a sign-in.
   *
   * @param check returns undefined for a wrong token; not called while the address must wait
   * @throws {RequestError} 401 for a wrong token, 429 if the address must wait
   */
  async admit<T>(address: string, token: string, check: () => T | undefined): Promise<T> {
    const pair = `${address} ${createHash('sha256').update(token).digest('base64')}`;
    if (!this.#known.has(pair)) refuseUntil(this.limiter.wait(address), WRONG_TOKENS_SENT, 'Authorization');
    const found = check();
    if (found !== undefined) {
      this.#known.add(pair);
      return found;
    }
    refuseUntil(this.limiter.count(address), WRONG_TOKENS_SENT, 'Authorization');
    await sleep(DELAY, undefined, { ref: false });
    throw new RequestError('admin_token_wrong', 'the admin token is wrong', 'Authorization');
  }
}
