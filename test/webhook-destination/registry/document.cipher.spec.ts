import { describe, expect, it } from '@jest/globals';

import { DocumentCipher, type DocumentOwner } from '../../../lib/webhook-destination/registry/document.cipher.js';

const OLD = 'an old secret of the registry';
const NEW = 'a new secret of the registry';
const owner: DocumentOwner = { kind: 'destination', name: 'crm' };
const json = '{"options":{"sharedSecret":"s3cret"}}';

/** The error of a document that cannot be read. */
function errorOf(cipher: DocumentCipher, text: string, of = owner): { code?: string; message: string } {
  try {
    cipher.decrypt(of, text);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was read');
}

describe('DocumentCipher', () => {
  it('keeps JSON as it is without a secret', async () => {
    const cipher = await DocumentCipher.create(undefined);
    expect(cipher.encrypt(owner, json)).toBe(json);
    expect(cipher.decrypt(owner, json)).toBe(json);
    expect(cipher.isCurrent(json)).toBe(true);
  });

  it('encrypts the whole document, never to the same text', async () => {
    const cipher = await DocumentCipher.create(NEW);
    const texts = [cipher.encrypt(owner, json), cipher.encrypt(owner, json)];
    expect(texts[0]).toMatch(/^v1:[0-9a-f]{16}:[A-Za-z0-9+/=]+$/);
    expect(texts[0]).not.toBe(texts[1]);
    for (const text of texts) {
      expect(Buffer.from(text.split(':')[2]!, 'base64').toString('latin1')).not.toContain('options');
      expect(cipher.decrypt(owner, text)).toBe(json);
    }
  });

  it('derives the same key in each process', async () => {
    const [one, other] = await Promise.all([DocumentCipher.create(NEW), DocumentCipher.create(NEW)]);
    expect(other.decrypt(owner, one.encrypt(owner, json))).toBe(json);
  });

  it('encrypts under the first secret, and decrypts under each', async () => {
    const before = (await DocumentCipher.create(OLD)).encrypt(owner, json);
    const both = await DocumentCipher.create([NEW, OLD]);
    expect(both.decrypt(owner, before)).toBe(json);
    expect(both.isCurrent(before)).toBe(false);
    const after = both.encrypt(owner, json);
    expect(both.isCurrent(after)).toBe(true);
    expect((await DocumentCipher.create(NEW)).decrypt(owner, after)).toBe(json);
  });

  it('reads what was stored before there was a secret, which is not current', async () => {
    const cipher = await DocumentCipher.create(NEW);
    expect(cipher.decrypt(owner, json)).toBe(json);
    expect(cipher.isCurrent(json)).toBe(false);
  });

  it('reads no document as that of another entry', async () => {
    const cipher = await DocumentCipher.create(NEW);
    const text = cipher.encrypt(owner, json);
    expect(errorOf(cipher, text, { kind: 'destination', name: 'erp' }).code).toBe('registry_unreadable');
    expect(errorOf(cipher, text, { kind: 'source', name: 'crm' }).code).toBe('registry_unreadable');
  });

  it('names registrySecret, and never the content, where a document cannot be read', async () => {
    const cipher = await DocumentCipher.create(NEW);
    const text = cipher.encrypt(owner, json);
    const bytes = Buffer.from(text.split(':')[2]!, 'base64');
    bytes[bytes.length - 1]! ^= 1;
    const changed = `${text.split(':', 2).join(':')}:${bytes.toString('base64')}`;
    const cut = text.slice(0, -60);
    const errors = [
      errorOf(await DocumentCipher.create(undefined), text),
      errorOf(await DocumentCipher.create(OLD), text),
      errorOf(cipher, changed),
      errorOf(cipher, cut),
    ];
    for (const { code, message } of errors) {
      expect(code).toBe('registry_unreadable');
      expect(message).toContain('registrySecret');
      expect(message).not.toContain('s3cret');
      expect(message).not.toContain(text.slice(20, 40));
    }
    expect(errorOf(cipher, 'v2:what:later').message).toContain('later version');
  });
});
