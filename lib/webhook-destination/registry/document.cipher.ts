import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

import { RelayError } from '../../client/relay.error.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const ID_BYTES = 8;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Prefix of an encrypted document. Plain JSON begins with `{`. */
const FORM = 'v1';

/** Fixed, because every process must derive the same key from the secret alone. */
const SALT = 'nestjs-analytics-relay:registry';

interface Key {
  /** Identifies the key in the documents it encrypted. */
  id: string;
  bytes: Buffer;
}

/** The entry that a document belongs to. The document cannot be decrypted as that of another entry. */
export interface DocumentOwner {
  kind: RegistryKind;
  name: string;
}

/** Encrypts documents with the first secret, and decrypts them with any. Without secrets, they stay plain JSON. */
export class DocumentCipher {
  readonly #keys: Key[];

  private constructor(keys: Key[]) {
    this.#keys = keys;
  }

  /** Derives a key from each secret, off the event loop. */
  static async create(secrets: string | string[] = []): Promise<DocumentCipher> {
    return new DocumentCipher(await Promise.all([secrets].flat().map(deriveKey)));
  }

  encrypt(owner: DocumentOwner, json: string): string {
    const [key] = this.#keys;
    if (!key) return json;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.bytes, iv).setAAD(ownerBytes(owner));
    const encrypted = Buffer.concat([cipher.update(json), cipher.final()]);
    return `${FORM}:${key.id}:${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64')}`;
  }

  /** @throws {RelayError} `registry_unreadable`, which names `registrySecret` */
  decrypt(owner: DocumentOwner, text: string): string {
    if (text.startsWith('{')) return text;
    const [form, id, base64 = ''] = text.split(':');
    if (form !== FORM) throw unreadable('it was written by a later version');
    const key = this.#keys.find((known) => known.id === id);
    if (!key) {
      const isEncrypting = this.#keys.length > 0;
      throw unreadable(`registrySecret ${isEncrypting ? 'must include' : 'must be'} the secret it is encrypted with`);
    }
    const bytes = Buffer.from(base64, 'base64');
    const iv = bytes.subarray(0, IV_BYTES);
    const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
    try {
      const decipher = createDecipheriv(ALGORITHM, key.bytes, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(ownerBytes(owner)).setAuthTag(tag);
      return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw unreadable('registrySecret matches, but the ciphertext is corrupt or belongs to another entry');
    }
  }

  /** Returns whether a document is encrypted with the current key, if there is one. */
  isCurrent(text: string): boolean {
    const [key] = this.#keys;
    return key ? text.startsWith(`${FORM}:${key.id}:`) : text.startsWith('{');
  }
}

async function deriveKey(secret: string): Promise<Key> {
  const derived = (await promisify(scrypt)(secret, SALT, KEY_BYTES + ID_BYTES)) as Buffer;
  return { bytes: derived.subarray(0, KEY_BYTES), id: derived.subarray(KEY_BYTES).toString('hex') };
}

function ownerBytes({ kind, name }: DocumentOwner): Buffer {
  return Buffer.from(JSON.stringify([kind, name]));
}

export function unreadable(reason: string): RelayError {
  return new RelayError('registry_unreadable', `the entry cannot be read: ${reason}`);
}
