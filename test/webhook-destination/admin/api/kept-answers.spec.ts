import { type DeliveryQueueFactory, memoryQueue, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { ScriptedReceiver } from '../../../support/scripted-receiver.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { waitFor } from '../../../support/wait-for.js';
import { READ_TOKEN, readStream, startApi, track } from './support.js';

const cleanUp = useCleanUps();

const queues: [name: string, create: () => Promise<DeliveryQueueFactory>][] = [
  ['memory', () => Promise.resolve(memoryQueue())],
  ['SQLite', async () => sqliteQueue({ path: (await temporaryFolder(cleanUp)).path('relay.db') })],
];

const ANSWER = { type: 'text/html', text: '<h1>No such hook</h1>', bytes: 21 };

describe.each(platforms)('The answers of receivers by the API on $platform', ({ createAdapter }) => {
  async function start(queue?: DeliveryQueueFactory) {
    const receiver = await ScriptedReceiver.start((response) => {
      response.writeHead(410, { 'Content-Type': 'text/html' }).end(ANSWER.text);
    });
    cleanUp(() => receiver.stop());
    return startApi(cleanUp, createAdapter(), {
      destination: { name: 'crm', urls: [receiver.url] },
      ...(queue && { options: { queue } }),
    });
  }

  it.each(queues)('are shown with the attempt, and removed with the user, on the queue %s', async (_name, create) => {
    const { relay, get, find, json } = await start(await create());
    await relay.accept('wk_shop', [track('m1')]);
    await waitFor(async () => (await find('state=dead')).length === 1);
    const [{ id } = { id: '' }] = await find('state=dead');
    const delivery = await get(`deliveries/${id}`, { token: READ_TOKEN });
    expect(delivery.attempts).toMatchObject([{ results: [{ status: 410, answer: ANSWER }] }]);
    expect(JSON.stringify(await get('deliveries'))).not.toContain('No such hook');
    expect(await relay.requestDeletion({ userId: 'u1' })).toMatchObject({ purged: 1 });
    expect((await json('GET', `deliveries/${id}`)).status).toBe(404);
  });

  it('are not among live events', async () => {
    const { relay, ask } = await start();
    const { events } = await readStream(await ask('GET', 'events'));
    await relay.accept('wk_shop', [track('m1')]);
    await waitFor(() => events.some(({ name }) => name === 'dead'));
    expect(events.find(({ name }) => name === 'dead')!.data.results).toMatchObject([{ status: 410 }]);
    expect(JSON.stringify(events)).not.toContain('No such hook');
  });

  it('are among the results of a test', async () => {
    const { json } = await start();
    const { answer } = await json('POST', 'destinations/crm/test', { body: {} });
    expect(answer.results).toMatchObject([{ status: 410, answer: ANSWER }]);
  });
});
