import { describe, expect, it } from 'vitest';

import { AcceptedMessage } from '../../../lib/webhook-destination/ingest/accepted-message.js';
import { ParsedMessage } from '../../../lib/webhook-destination/ingest/parsed-message.js';
import { toDeleteBody, toWebhookBody } from '../../../lib/webhook-destination/routing/webhook-body.util.js';

const timestamp = '2026-01-02T03:04:05.678Z';
const common = { messageId: 'm1', timestamp, userId: 'u1' };
const context = { ip: '203.0.113.7', device: { model: 'X', type: 'ios' }, library: { name: 'l', version: '1' } };
const body = (message: object) =>
  JSON.parse(toWebhookBody(new AcceptedMessage(new ParsedMessage({ ...common, ...message }), 1)).toString()) as unknown;

describe('The body of a webhook', () => {
  it.each([
    [
      {
        type: 'page',
        name: 'Home',
        category: 'Docs',
        properties: { path: '/', referrer: '', title: 'T', url: 'https://a/' },
      },
      { name: 'Home', category: 'Docs', properties: { path: '/', referrer: '', title: 'T', url: 'https://a/' } },
    ],
    [
      { type: 'screen', name: 'Cart', properties: { items: 2 }, context },
      { name: 'Cart', properties: { items: 2 }, context },
    ],
    [{ type: 'identify', traits: { plan: 'pro', age: 7 } }, { traits: { plan: 'pro', age: 7 } }],
    [
      { type: 'track', event: 'Ordered', properties: { revenue: '19.95' } },
      { event: 'Ordered', properties: { revenue: '19.95' } },
    ],
    [
      { type: 'group', groupId: 'g1', traits: { 'company name': 'Initech' } },
      { groupId: 'g1', traits: { 'company name': 'Initech' } },
    ],
  ])('%j', (message, fields) => {
    expect(body(message)).toEqual({ version: 1, type: message.type, userId: 'u1', timestamp, ...fields });
  });

  it('has `Previous ID` and `User ID` for an alias, and no userId', () => {
    expect(body({ type: 'alias', previousId: 'anon', userId: 'u1' })).toEqual({
      version: 1,
      type: 'alias',
      'Previous ID': 'anon',
      'User ID': 'u1',
      timestamp,
    });
  });

  it('has the three fields of a deletion, and no version', () => {
    const body = toDeleteBody('u1', new Date(timestamp)).toString();
    expect(body).toBe(`{"type":"delete","userId":"u1","timestamp":"${timestamp}"}`);
  });

  it('has anonymousId and context where the message has them, and no userId where it has none', () => {
    expect(body({ type: 'track', event: 'E', userId: undefined, anonymousId: 'a1', context })).toEqual({
      version: 1,
      type: 'track',
      event: 'E',
      anonymousId: 'a1',
      context,
      timestamp,
    });
  });

  it('has nothing of the transport', () => {
    const transport = {
      writeKey: 'wk',
      sentAt: timestamp,
      originalTimestamp: timestamp,
      integrations: { All: true },
      _metadata: { nodeVersion: '20' },
      channel: 'server',
    };
    expect(Object.keys(body({ type: 'track', event: 'E', ...transport }) as object)).toEqual([
      'version',
      'type',
      'userId',
      'event',
      'timestamp',
    ]);
  });
});
