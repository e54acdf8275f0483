import { createCipheriv, createDecipheriv } from 'node:crypto';

import { hmac, isSame, type PortalKeys } from './portal.keys.js';

/** How ids of endpoints and deliveries begin. */
const ENDPOINT_START = 'ep_';
const DELIVERY_START = 'dl_';

/** Texts are encrypted in multiples of this length, in bytes: the number of digits would reveal that of deliveries. */
const BLOCK_BYTES = 32;

/** Length of the digest in an endpoint's id, in bytes. */
const DIGEST_BYTES = 15;

const ALGORITHM = 'aes-256-ctr';
const IV_BYTES = 16;

/**
 * The ids that a tenant sees. They reveal neither names of destinations nor what the ids of the store are made of, such as
 * sources and the number of deliveries of other tenants.
 *
 * The id of an endpoint is an HMAC of its name. That of a delivery is its id in the store, encrypted for its tenant: the
 * initialization vector is an HMAC of tenant and id, so the same delivery always has the same id, and an id that was not
 * made for the tenant is known by it.
 */
export class OpaqueIds {
  readonly #endpoints: Buffer;
  readonly #vectors: Buffer;
  readonly #deliveries: Buffer;

  constructor(keys: PortalKeys) {
    this.#endpoints = keys.derive('endpoints');
    this.#vectors = keys.derive('delivery vectors');
    this.#deliveries = keys.derive('deliveries');
  }

  endpoint(name: string): string {
    const digest = hmac(this.#endpoints, name).subarray(0, DIGEST_BYTES);
    return ENDPOINT_START + digest.toString('base64url');
  }

  /** Returns what a tenant sees of the id of a delivery, or of another text, such as a cursor. */
  conceal(tenant: string, id: string): string {
    const iv = this.vectorOf(tenant, id);
    const cipher = createCipheriv(ALGORITHM, this.#deliveries, iv);
    const padding = Buffer.alloc(BLOCK_BYTES - (Buffer.byteLength(id) % BLOCK_BYTES));
    const parts = [iv, cipher.update(id), cipher.update(padding), cipher.final()];
    return DELIVERY_START + Buffer.concat(parts).toString('base64url');
  }

  /** Returns the id of a delivery; undefined for an id that was not made for the tenant. */
  reveal(tenant: string, concealed: string): string | undefined {
    if (!concealed.startsWith(DELIVERY_START)) return undefined;
    const bytes = Buffer.from(concealed.slice(DELIVERY_START.length), 'base64url');
    if (bytes.length < IV_BYTES) return undefined;
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#deliveries, iv);
    const padded = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES)), decipher.final()]).toString();
    const id = padded.replace(/\0+$/, '');
    return isSame(this.vectorOf(tenant, id), iv) ? id : undefined;
  }

  private vectorOf(tenant: string, id: string): Buffer {
    return hmac(this.#vectors, JSON.stringify([tenant, id])).subarray(0, IV_BYTES);
  }
}
