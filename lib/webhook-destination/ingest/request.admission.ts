import type { IncomingMessage } from 'node:http';

import { WRITE_KEY_MISSING, WRITE_KEY_UNKNOWN } from '../../common/relay.errors.js';
import { isPublic } from '../network.util.js';
import type { IngestOptions } from './ingest.options.js';
import { type AddressReader, createAddressReader } from '../http/client-address.js';
import { refuseUntil, RequestError } from '../http/request.error.js';
import { RateLimiter, RecentSet } from '../http/rate.limiter.js';
import type { SourceRegistry } from './source.registry.js';

/** Limit on wrong or missing write keys from an address. */
const WRONG_KEYS = { limit: 60, ttl: 60_000 };

/** Limit on requests from an address to the routes that need no key. */
const KEYLESS = { limit: 600, ttl: 60_000 };

const WRONG_KEYS_SENT = 'too many wrong write keys from this address';

/** Number of remembered pairs of address and source. */
const MAX_PAIRS = 10_000;

/** Admits requests that have the write key of a source and are within the limits. */
export class RequestAdmission {
  private readonly addressOf: AddressReader;
  private readonly sourceLimiter: RateLimiter | undefined;
  private readonly wrongKeyLimiter = new RateLimiter(WRONG_KEYS);
  private readonly keylessLimiter = new RateLimiter(KEYLESS);
  /**
   * Sources that an address has posted to. It may continue while another client at the address, or behind its proxy,
   * guesses keys.
   */
  private readonly pairs = new RecentSet(MAX_PAIRS);

  constructor(
    private readonly sources: SourceRegistry,
    private readonly options: Pick<IngestOptions, 'rateLimit' | 'clientAddress'>,
  ) {
    this.addressOf = createAddressReader(options.clientAddress);
    this.sourceLimiter = options.rateLimit && new RateLimiter(options.rateLimit);
  }

  /**
   * Returns the name of the source with the key.
   *
   * @param status that of the answer, if not 401, for a missing or unknown key
   * @throws {RequestError} for a missing or unknown key; 429 once the address has sent too many of them. An address that
   * is a single client then also gets 429 for correct keys new to it, so that it cannot go on guessing.
   */
  authenticate(writeKey: string | undefined, request: IncomingMessage, status?: number): string {
    const address = this.addressOf(request);
    const source = writeKey === undefined ? undefined : this.sources.find(writeKey);
    if (source === undefined) {
      refuseUntil(this.wrongKeyLimiter.count(address), WRONG_KEYS_SENT, 'writeKey');
      const message = writeKey === undefined ? WRITE_KEY_MISSING : WRITE_KEY_UNKNOWN;
      throw new RequestError('write_key_unknown', message, 'writeKey', status);
    }
    const pair = `${address} ${source}`;
    if (!this.pairs.has(pair)) {
      const wait = this.wrongKeyLimiter.wait(address);
      if (wait !== undefined && this.isOneClient(request)) refuseUntil(wait, WRONG_KEYS_SENT, 'writeKey');
      this.pairs.add(pair);
    }
    return source;
  }

  /** @throws {RequestError} 429 above the limit of a source. */
  admit(source: string, request: IncomingMessage): void {
    if (!this.sourceLimiter) return;
    const key = this.options.rateLimit?.by === 'address' ? `${this.addressOf(request)} ${source}` : source;
    refuseUntil(this.sourceLimiter.count(key), 'the rate limit of the source is exceeded', 'writeKey');
  }

  /** @throws {RequestError} 429 above the limit of requests without a key. */
  admitKeyless(request: IncomingMessage): void {
    refuseUntil(this.keylessLimiter.count(this.addressOf(request)), 'too many requests from this address', 'request');
  }

  /** Whether the request comes through a proxy, whose headers count. */
  isBehindProxy(request: IncomingMessage): boolean {
    return this.options.clientAddress !== undefined || !this.isFromPublicAddress(request);
  }

  /**
   * A loopback or private address is probably that of a proxy: a stranger could use up the limit of all clients behind
   * it.
   */
  private isOneClient(request: IncomingMessage): boolean {
    return this.options.clientAddress !== undefined || this.isFromPublicAddress(request);
  }

  private isFromPublicAddress({ socket }: IncomingMessage): boolean {
    const address = socket?.remoteAddress;
    return address !== undefined && isPublic(address);
  }
}

/**
 * Returns the write key of an `Authorization` header: the Basic user name, with or without the colon, or the Bearer
 * token.
 */
export function readKeyOfHeader(authorization: string | undefined): string | undefined {
  const [, scheme, credentials] = /^(basic|bearer)\s+(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  if (!scheme || !credentials) return undefined;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  return Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0] || undefined;
}
