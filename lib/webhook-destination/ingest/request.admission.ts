import type { IncomingMessage } from 'node:http';

import { isPublic } from '../../common/network.util.js';
import type { IngestOptions } from './ingest.options.js';
import { type AddressReader, createAddressReader } from './client-address.js';
import { RequestError } from './request.error.js';
import { RateLimiter } from './rate.limiter.js';
import { RecentSet } from './recent-set.js';
import type { SourceRegistry } from './source.registry.js';

/** Wrong or missing write keys of an address. */
const WRONG_KEYS = { limit: 60, ttl: 60_000 };

/** Requests of an address to the routes that want no key. */
const KEYLESS = { limit: 600, ttl: 60_000 };

const WRONG_KEYS_SENT = 'the address has sent too many wrong write keys, and';

/** Pairs of address and source that are remembered. */
const MAX_PAIRS = 10_000;

/** Says which requests may go on: those with the write key of a source, within the limits. */
export class RequestAdmission {
  private readonly addressOf: AddressReader;
  private readonly sourceLimiter: RateLimiter | undefined;
  private readonly wrongKeyLimiter: RateLimiter;
  private readonly keylessLimiter: RateLimiter;
  private readonly isByAddress: boolean;
  private readonly hasClientAddress: boolean;
  /** Sources that an address has posted to: it may go on where another client at the address, or its proxy, guesses keys. */
  private readonly pairs = new RecentSet(MAX_PAIRS);

  constructor(
    private readonly sources: SourceRegistry,
    { rateLimit, clientAddress }: Pick<IngestOptions, 'rateLimit' | 'clientAddress'>,
  ) {
    this.addressOf = createAddressReader(clientAddress);
    this.sourceLimiter = rateLimit && new RateLimiter(rateLimit);
    this.wrongKeyLimiter = new RateLimiter(WRONG_KEYS);
    this.keylessLimiter = new RateLimiter(KEYLESS);
    this.isByAddress = rateLimit?.by === 'address';
    this.hasClientAddress = clientAddress !== undefined;
  }

  /**
   * The name of the source that has the key.
   *
   * @throws {RequestError} 401 where none has, 429 past the limit of wrong keys: an address that stands for one client
   * then gets 429 for right keys as well, so it cannot go on guessing, but for those that it has used before.
   */
  authenticate(writeKey: string | undefined, request: IncomingMessage): string {
    const address = this.addressOf(request);
    const source = writeKey === undefined ? undefined : this.sources.find(writeKey);
    if (source === undefined) {
      refuseUntil(this.wrongKeyLimiter.count(address), WRONG_KEYS_SENT);
      throw new RequestError(401, 'write_key_unknown', 'the write key must be that of a source', 'writeKey');
    }
    const pair = `${address} ${source}`;
    if (!this.pairs.has(pair)) {
      const wait = this.wrongKeyLimiter.wait(address);
      if (wait !== undefined && this.isOneClient(request)) refuseUntil(wait, WRONG_KEYS_SENT);
      this.pairs.add(pair);
    }
    return source;
  }

  /** @throws {RequestError} 429 past the limit of a source. */
  admit(source: string, request: IncomingMessage): void {
    refuseUntil(
      this.sourceLimiter?.count(this.isByAddress ? `${this.addressOf(request)} ${source}` : source),
      'the source',
    );
  }

  /** @throws {RequestError} 429 past the limit of requests that want no key. */
  admitKeyless(request: IncomingMessage): void {
    refuseUntil(this.keylessLimiter.count(this.addressOf(request)), 'the address', 'request');
  }

  /** A loopback or private address is probably a proxy's: a stranger could use up the limit for all clients behind it. */
  private isOneClient({ socket }: IncomingMessage): boolean {
    const address = socket?.remoteAddress;
    return this.hasClientAddress || (address !== undefined && isPublic(address));
  }
}

function refuseUntil(wait: number | undefined, who: string, field = 'writeKey'): void {
  if (wait === undefined) return;
  const seconds = Math.ceil(wait / 1000);
  throw new RequestError(429, 'rate_limited', `${who} must wait ${seconds} s`, field, seconds);
}
