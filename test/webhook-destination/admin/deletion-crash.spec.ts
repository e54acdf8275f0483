import { fork } from 'node:child_process';
import { once } from 'node:events';

import { sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describe('A process killed between the purge of a deletion and its notifications', () => {
  const cleanUp = useCleanUps();

  it('leaves the notification of an earlier deletion, and the deletion is completed when it is repeated', async () => {
    const receiver = await ScriptedReceiver.start((response) => response.writeHead(503).end());
    cleanUp(() => receiver.stop());
    const path = (await temporaryFolder(cleanUp)).path('relay.db');
    const child = fork('test/apps/deletion.app.mjs', [JSON.stringify({ path, url: receiver.url })]);
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);

    const relay = await Relay.start({ destinations: [{ urls: [receiver.url] }], queue: sqliteQueue({ path }) });
    cleanUp(() => relay.stop());
    const [acknowledged, ...others] = await relay.undelivered();
    expect(others).toEqual([]);
    expect(JSON.parse(acknowledged!.body)).toMatchObject({ type: 'delete', userId: 'u1' });
    expect(await relay.service.requestDeletion({ userId: 'u1' })).toMatchObject({
      notifications: 1,
      purged: 0,
      refused: 0,
    });
    const left = await relay.undelivered();
    expect(left.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['delete', 'delete']);
  });
});
