import { describe, expect, it } from '@jest/globals';

import { DeliveryOptions } from '../../../lib/webhook-destination/dispatch/delivery.options.js';
import { DocumentCipher } from '../../../lib/webhook-destination/registry/document.cipher.js';
import { EntryCodec } from '../../../lib/webhook-destination/registry/entry.codec.js';

const document = { options: { name: 'crm', urls: ['https://crm.example/hook'] } };

describe('EntryCodec', () => {
  it('notes the layout of an entry, and refuses that of a later version', async () => {
    const codec = new EntryCodec(await DocumentCipher.create(undefined), new DeliveryOptions());
    const text = codec.encode('destination', document);
    expect(codec.decode('destination', 'crm', text)).toMatchObject({ ...document, layout: 1 });
    const newer = text.replace('"layout":1', '"layout":1000');
    expect(() => codec.decode('destination', 'crm', newer)).toThrow('it has layout 1000, written by a later version');
  });
});
