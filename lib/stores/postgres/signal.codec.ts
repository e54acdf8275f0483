import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import { parseJson } from '../../common/value.util.js';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;

/** The rest of a vector counts the signals of a process: 48 bits last longer than any process. */
const ID_BYTES = 6;

const TAG_BYTES = 16;

/** Maximum length of the texts of a signal as JSON, in bytes: encrypted, a notification must be shorter than 8,000. */
export const MAX_JSON = 5_900;

/**
 * Encrypts signals, and authenticates those received: any role of the database may hear and send notifications. A signal
 * that is sent again does no harm: ids of purged deliveries are not used again, and all others make a process read.
 */
export class SignalCodec {
  /** Identifies this process, and begins the initialization vectors of its signals, of which each is used once. */
  private readonly id = randomBytes(ID_BYTES);
  private count = 0;
  readonly #key: Buffer;

  /** @param key 32 bytes, which all processes know */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** @param kind authenticated beside the texts, which cannot be decoded as those of another kind */
  encode(kind: string, texts: string[]): string {
    const iv = Buffer.alloc(IV_BYTES);
    this.id.copy(iv);
    iv.writeUIntBE(this.count++, ID_BYTES, IV_BYTES - ID_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, iv).setAAD(Buffer.from(kind));
    const encrypted = Buffer.concat([cipher.update(JSON.stringify(texts)), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64');
  }

  /** Returns the texts of a signal; undefined if it is of this process, or was sent without the key. */
  decode(kind: string, signal: string): string[] | undefined {
    const bytes = Buffer.from(signal, 'base64');
    const iv = bytes.subarray(0, IV_BYTES);
    if (iv.subarray(0, ID_BYTES).equals(this.id)) return undefined;
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, iv, { authTagLength: TAG_BYTES }).setAAD(
        Buffer.from(kind),
      );
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const encrypted = bytes.subarray(IV_BYTES + TAG_BYTES);
      return parseJson(decipher.update(encrypted, undefined, 'utf8') + decipher.final('utf8')) as string[];
    } catch {
      return undefined;
    }
  }
}
