import { ExpressAdapter } from '@nestjs/platform-express';
import { memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { newDelivery } from '../../support/new-delivery.js';
import { onFastify } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { startRelayApp } from '../../support/relay.app.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { openQueue } from '../../support/open-queue.js';

const track = (messageId: string, userId = 'u1') => ({ type: 'track', userId, event: 'Ordered', messageId });
const SUCCESS = { success: true };

describe.each(onFastify)('A repeated messageId on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  it('is accepted and not forwarded again, be it in another batch, in the same or alone', async () => {
    const { host, receiver, relay } = await startRelayApp(afterwards, createAdapter());
    const send = async (path: string, body: object) => {
      const answer = await post(`${host}${path}`, body);
      expect([answer.status, await answer.json()]).toEqual([200, SUCCESS]);
    };
    await send('/v1/batch', { batch: [track('m1', 'first'), track('m1', 'second'), track('m2')] });
    await send('/v1/track', track('m1', 'third'));
    await send('/v1/batch', { batch: [track('m2'), track('m3')] });
    const webhooks = await receiver.received(3);
    expect(webhooks.map(({ headers }) => headers['x-message-id']).sort()).toEqual(['m1', 'm2', 'm3']);
    expect(webhooks.map(({ body }) => body.userId).sort()).toEqual(['first', 'u1', 'u1']);
    expect(await relay.deliveries()).toHaveLength(3);
  });

  it('is forwarded from each source that sends it', async () => {
    const sources = [
      { name: 'shop', writeKey: 'wk_shop' },
      { name: 'blog', writeKey: 'wk_blog' },
    ];
    const { host, receiver } = await startRelayApp(afterwards, createAdapter(), { options: { sources } });
    await post(`${host}/v1/track`, track('m1'));
    await post(`${host}/v1/track`, track('m1'), 'wk_blog');
    await receiver.received(2);
  });

  it('may be forwarded once more to a destination that did not get it', async () => {
    const { host, receiver, relay } = await startRelayApp(afterwards, createAdapter());
    await post(`${host}/v1/track`, { ...track('m1'), integrations: { All: false } });
    await post(`${host}/v1/track`, track('m1'));
    await receiver.received(1);
    expect(await relay.deliveries()).toHaveLength(1);
  });
});

describe('The memory of message ids', () => {
  const afterwards = useCleanUps();

  it('survives a restart with SQLite, delivered messages included', async () => {
    const folder = await temporaryFolder(afterwards);
    const queue = () => sqliteQueue({ path: folder.path('relay.db'), retention: { delivered: { count: 0 } } });
    const first = await startRelayApp(afterwards, new ExpressAdapter(), { options: { queue: queue() } });
    await post(`${first.host}/v1/batch`, { batch: [track('m1'), track('m2')] });
    await first.receiver.received(2);
    await first.app.close();

    const second = await startRelayApp(afterwards, new ExpressAdapter(), { options: { queue: queue() } });
    await post(`${second.host}/v1/batch`, { batch: [track('m2'), track('m3'), track('m1')] });
    const [webhook] = await second.receiver.received(1);
    expect(webhook!.headers['x-message-id']).toBe('m3');
    await second.app.close();
    expect(second.receiver.webhooks).toHaveLength(1);
  });

  it.each([
    ['memory', (path: string) => (void path, memoryQueue({ retention: { messageIds: { count: 4 } } }))],
    ['SQLite', (path: string) => sqliteQueue({ path, retention: { messageIds: { count: 4 } } })],
  ])('is bounded: it holds the latest ids (%s)', async (_, create) => {
    const folder = await temporaryFolder(afterwards);
    const queue = await openQueue(afterwards, create(folder.path('relay.db')));
    const add = (messageId: string) => queue.add([newDelivery(messageId)]);
    for (const messageId of ['m0', 'm1', 'm2', 'm3', 'm4', 'm5']) await add(messageId);
    await add('m5');
    expect(await queue.list({})).toHaveLength(6);
    await add('m0');
    expect(await queue.list({})).toHaveLength(7);
  });

  it('has bounds that are checked', () => {
    const create = () => sqliteQueue({ retention: { messageIds: { count: -1 } } });
    expect(create).toThrow('sqliteQueue: retention.messageIds.count must be a whole number, 0 or above');
  });
});
