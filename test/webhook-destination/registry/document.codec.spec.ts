import { describe, expect, it } from 'vitest';

import { DocumentCodec } from '../../../lib/webhook-destination/registry/document.codec.js';

const OLD = 'an old secret of the registry';
const NEW = 'a new secret of the registry';
const kind = 'destination';
const document = { options: { name: 'crm', urls: ['https://crm.example/hook'], sharedSecret: 's3cret' } };
const stored = { ...document, layout: 1 };
const json = JSON.stringify(stored);

/** The error of a document that cannot be read. */
function errorOf(codec: DocumentCodec, text: string): { code?: string; message: string } {
  try {
    codec.decode(kind, 'crm', text);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was read');
}

describe('DocumentCodec', () => {
  it('keeps JSON as it is without a secret', async () => {
    const codec = await DocumentCodec.create(undefined);
    expect(codec.encode(kind, document)).toBe(json);
    expect(codec.decode(kind, 'crm', json)).toEqual(stored);
    expect(codec.isCurrent(json)).toBe(true);
  });

  it('encrypts the whole document, never to the same text', async () => {
    const codec = await DocumentCodec.create(NEW);
    const texts = [codec.encode(kind, document), codec.encode(kind, document)];
    expect(texts[0]).toMatch(/^v1:[0-9a-f]{16}:[A-Za-z0-9+/=]+$/);
    expect(texts[0]).not.toBe(texts[1]);
    for (const text of texts) {
      expect(Buffer.from(text.split(':')[2]!, 'base64').toString('latin1')).not.toContain('options');
      expect(codec.decode(kind, 'crm', text)).toEqual(stored);
    }
  });

  it('derives the same key in each process', async () => {
    const [one, other] = await Promise.all([DocumentCodec.create(NEW), DocumentCodec.create(NEW)]);
    expect(other.decode(kind, 'crm', one.encode(kind, document))).toEqual(stored);
  });

  it('encrypts under the first secret, and decrypts under each', async () => {
    const before = (await DocumentCodec.create(OLD)).encode(kind, document);
    const both = await DocumentCodec.create([NEW, OLD]);
    expect(both.decode(kind, 'crm', before)).toEqual(stored);
    expect(both.isCurrent(before)).toBe(false);
    const after = both.encode(kind, document);
    expect(both.isCurrent(after)).toBe(true);
    expect((await DocumentCodec.create(NEW)).decode(kind, 'crm', after)).toEqual(stored);
  });

  it('reads what was stored before there was a secret, which is not current', async () => {
    const codec = await DocumentCodec.create(NEW);
    expect(codec.decode(kind, 'crm', json)).toEqual(stored);
    expect(codec.isCurrent(json)).toBe(false);
  });

  it('reads no document as that of another entry', async () => {
    const codec = await DocumentCodec.create(NEW);
    const text = codec.encode(kind, document);
    const unreadable = expect.objectContaining({ code: 'registry_unreadable' });
    expect(() => codec.decode(kind, 'erp', text)).toThrow(unreadable);
    expect(() => codec.decode('source', 'crm', text)).toThrow(unreadable);
  });

  it('names registrySecret, and never the content, where a document cannot be read', async () => {
    const codec = await DocumentCodec.create(NEW);
    const text = codec.encode(kind, document);
    const bytes = Buffer.from(text.split(':')[2]!, 'base64');
    bytes[bytes.length - 1]! ^= 1;
    const changed = `${text.split(':', 2).join(':')}:${bytes.toString('base64')}`;
    const cut = text.slice(0, -60);
    const errors = [
      errorOf(await DocumentCodec.create(undefined), text),
      errorOf(await DocumentCodec.create(OLD), text),
      errorOf(codec, changed),
      errorOf(codec, cut),
    ];
    for (const { code, message } of errors) {
      expect(code).toBe('registry_unreadable');
      expect(message).toContain('registrySecret');
      expect(message).not.toContain('s3cret');
      expect(message).not.toContain(text.slice(20, 40));
    }
    expect(errorOf(codec, 'v2:what:later').message).toContain('later version');
  });
  it('stores the layout of a document, and refuses that of a later version', async () => {
    const codec = await DocumentCodec.create(undefined);
    const newer = json.replace('"layout":1', '"layout":1000');
    expect(errorOf(codec, newer).message).toContain('it has layout 1000, written by a later version');
  });
});
