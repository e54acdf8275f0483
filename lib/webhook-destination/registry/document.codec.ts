import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

import { RelayError } from '../../client/relay.error.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import type { AnyDocument } from './entry.document.js';

/** Layout version of documents. A later layout may have fields that an older version must not ignore. */
const LAYOUT = 1;

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

/**
 * Converts documents to and from their stored form: JSON, which the first secret encrypts and any of them decrypts.
 * Without secrets, it stays plain.
 */
export class DocumentCodec {
  readonly #keys: Key[];

  private constructor(keys: Key[]) {
    this.#keys = keys;
  }

  /** Derives a key from each secret, off the event loop. */
  static async create(secrets: string | string[] = []): Promise<DocumentCodec> {
    return new DocumentCodec(await Promise.all([secrets].flat().map(deriveKey)));
  }

  encode(kind: RegistryKind, document: AnyDocument): string {
    const json = JSON.stringify({ ...document, layout: LAYOUT });
    const [key] = this.#keys;
    if (!key) return json;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.bytes, iv).setAAD(ownerBytes(kind, document.options.name));
    const encrypted = Buffer.concat([cipher.update(json), cipher.final()]);
    return `${FORM}:${key.id}:${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64')}`;
  }

  /** @throws {RelayError} `registry_unreadable` */
  decode(kind: RegistryKind, name: string, text: string): AnyDocument {
    const json = this.decrypt(kind, name, text);
    let document: Partial<AnyDocument & { layout: number }> | null;
    try {
      document = JSON.parse(json) as typeof document;
    } catch {
      throw unreadable('it is not JSON'); // the parser's message would quote the document
    }
    if (document?.options?.name !== name) throw unreadable('it belongs to another entry');
    const { layout = LAYOUT } = document;
    if (layout > LAYOUT) throw unreadable(`it has layout ${layout}, written by a later version`);
    return document as AnyDocument;
  }

  /** Returns whether a document is encrypted with the current key, if there is one. */
  isCurrent(text: string): boolean {
    const [key] = this.#keys;
    return key ? text.startsWith(`${FORM}:${key.id}:`) : text.startsWith('{');
  }

  /** @throws {RelayError} `registry_unreadable`, which names `registrySecret` */
  private decrypt(kind: RegistryKind, name: string, text: string): string {
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
      decipher.setAAD(ownerBytes(kind, name)).setAuthTag(tag);
      return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw unreadable('registrySecret matches, but the ciphertext is corrupt or belongs to another entry');
    }
  }
}

async function deriveKey(secret: string): Promise<Key> {
  const derived = (await promisify(scrypt)(secret, SALT, KEY_BYTES + ID_BYTES)) as Buffer;
  return { bytes: derived.subarray(0, KEY_BYTES), id: derived.subarray(KEY_BYTES).toString('hex') };
}

/** Authenticated beside the document, which cannot be decrypted as that of another entry. */
function ownerBytes(kind: RegistryKind, name: string): Buffer {
  return Buffer.from(JSON.stringify([kind, name]));
}

function unreadable(reason: string): RelayError {
  return new RelayError('registry_unreadable', `the entry cannot be read: ${reason}`);
}
