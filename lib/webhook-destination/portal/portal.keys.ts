import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Length of a derived key, in bytes. */
const KEY_BYTES = 32;

/** Keys for different uses, each derived from the secret of the portal. They are hidden from inspection. */
export class PortalKeys {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** Derives the key of a use. */
  derive(use: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, '', `nestjs-analytics-relay:portal:${use}`, KEY_BYTES));
  }
}

export function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Compares in a time that reveals nothing about the bytes. */
export function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
