import { createHash } from 'node:crypto';

import type { DestinationManager } from '../registry/destination.manager.js';

/** An Ed25519 public key as a JSON Web Key. */
export interface PublicJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  /** Thumbprint of the key. @see RFC 7638 */
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
}

/** An answer of the route of public keys. */
export interface JwksAnswer {
  /** The JSON Web Key Set. */
  body: string;
  etag: string;
  /** How long receivers may keep it, in seconds. */
  maxAge: number;
}

/** Maximum number of keys in the set of all: about 190 KB, which any stranger may ask for. */
const MAX_KEYS = 1_000;

/** How long the keys are reused, in ms: a new one is shown after that time. */
const FRESH = 5_000;

/** How long receivers may keep an answer, in seconds. During the overlap of a rotation, the key they have still verifies. */
const MAX_AGE = 300;

/** Converts a `whpk_` key. @see RFC 8037, "Key Type OKP" */
export function toJwk(publicKey: string): PublicJwk {
  const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
  const required = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }); // in this order, without spaces: RFC 7638
  const kid = createHash('sha256').update(required).digest('base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' };
}

/** Returns the JSON Web Key Set of these keys, by `kid`, so that their order reveals nothing. */
export function toJwks(keys: Iterable<PublicJwk>): string {
  return JSON.stringify({ keys: [...keys].sort((a, b) => (a.kid < b.kid ? -1 : 1)) });
}

/**
 * The public keys under which receivers verify what the destinations in use sign: present ones, and previous ones until
 * the overlap of a rotation ends. They are read at most every 5 s, however many requests ask for them.
 */
export class PublicKeySet {
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;
  /** The keys in use; each is converted once. */
  private keys = new Map<string, PublicJwk>();
  /** The keys of the destinations that have a key, by its `kid`: in a rotation, also the one that replaces it. */
  private related = new Map<string, Set<PublicJwk>>();
  private all: JwksAnswer | undefined;

  constructor(private readonly destinations: Pick<DestinationManager, 'publicKeys'>) {}

  /**
   * Returns the set of all keys; with a `kid`, that of the key and, in a rotation, the one that replaces it or that it
   * replaces. The set is empty for an unknown `kid`. Returns undefined if there are more keys than one answer may have:
   * receivers then need a `kid`.
   */
  async answer(kid?: string): Promise<JwksAnswer | undefined> {
    if (performance.now() - this.readAt >= FRESH)
      await (this.reading ??= this.read().finally(() => (this.reading = undefined)));
    return kid === undefined ? this.all : toAnswer(this.related.get(kid) ?? new Set());
  }

  private async read(): Promise<void> {
    const startedAt = performance.now();
    const keys = new Map<string, PublicJwk>();
    const related = new Map<string, Set<PublicJwk>>();
    const convert = (publicKey: string): PublicJwk => {
      const key = keys.get(publicKey) ?? this.keys.get(publicKey) ?? toJwk(publicKey);
      keys.set(publicKey, key);
      return key;
    };
    for await (const publicKeys of this.destinations.publicKeys()) {
      const together = publicKeys.map(convert);
      for (const { kid } of together) {
        const others = related.get(kid) ?? new Set();
        together.forEach((key) => others.add(key));
        related.set(kid, others);
      }
    }
    this.keys = keys;
    this.related = related;
    this.all = toAnswer(new Set(keys.values()));
    this.readAt = startedAt;
  }
}

function toAnswer(keys: ReadonlySet<PublicJwk>): JwksAnswer | undefined {
  if (keys.size > MAX_KEYS) return undefined;
  const body = toJwks(keys);
  return {
    body,
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
    maxAge: keys.size > 0 ? MAX_AGE : FRESH / 1_000,
  };
}
