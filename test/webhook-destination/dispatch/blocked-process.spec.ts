import { fork } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { AnsweringThread, blockEventLoop } from '../../support/answering.thread.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { hang, ScriptedReceiver } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const TIMEOUT = 2_000;

describe('A process that is paused for longer than delivery.timeout', () => {
  const cleanUp = useCleanUps();

  it.each(['undici', 'axios'] as const)('loses no answer that arrived in time (%s)', async (transport) => {
    const answering = await AnsweringThread.start();
    cleanUp(() => answering.stop());
    const hung = await ScriptedReceiver.start(hang);
    cleanUp(() => hung.stop());
    const relay = await Relay.start({
      destinations: [
        { name: 'Answers', urls: [answering.url] },
        { name: 'Hangs', urls: [hung.url] },
      ],
      delivery: { transport, timeout: TIMEOUT, initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    });
    cleanUp(() => relay.stop());
    const ids = Array.from({ length: 16 }, (_, index) => `m${index}`);
    await relay.track(...ids);
    await waitFor(() => answering.requests === ids.length && hung.active === ids.length);
    answering.answer();
    await blockEventLoop(TIMEOUT + 200);

    await waitFor(() => relay.events.length === 2 * ids.length);
    const outcomes = relay.events.map(({ destination, type }) => `${destination} ${type}`);
    expect(outcomes.filter((outcome) => outcome === 'Answers delivered')).toHaveLength(ids.length);
    expect(outcomes.filter((outcome) => outcome === 'Hangs retry')).toHaveLength(ids.length);
    expect(answering.requests).toBe(ids.length);
  });

  it('takes the answers that arrived while it was suspended (SIGSTOP), and neither repeats nor holds back anything', async () => {
    const held: ServerResponse[] = [];
    const receiver = await ScriptedReceiver.start((response) => void held.push(response));
    cleanUp(() => receiver.stop());
    const { path } = await temporaryFolder(cleanUp);
    const child = fork('test/apps/crash.app.mjs', { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    cleanUp(() => void child.kill('SIGKILL'));
    const outcomes: string[] = [];
    const started = new Promise<string>((resolve) => {
      child.on('message', ({ ready, host, settled }: { ready?: true; host?: string; settled?: string }) => {
        const start = { path: path('relay.db'), url: receiver.url, delivery: { concurrency: 96 } };
        if (ready) child.send({ start });
        if (host) resolve(host);
        if (settled) outcomes.push(settled);
      });
    });
    const host = await started;
    const track = async (...messageIds: string[]) => {
      const batch = messageIds.map((messageId) => ({ type: 'track', messageId, userId: 'u1', event: 'Ordered' }));
      const body = JSON.stringify({ batch, writeKey: 'wk_shop' });
      expect(await fetch(`${host}/v1/batch`, { method: 'POST', body })).toMatchObject({ status: 200 });
    };
    await track(...Array.from({ length: 96 }, (_, index) => `m${index}`));
    await waitFor(() => held.length === 96);

    child.kill('SIGSTOP');
    for (const response of held.splice(0)) response.end();
    await sleep(7_000); // delivery.timeout is 5 s
    expect(outcomes).toEqual([]);
    child.kill('SIGCONT');
    await waitFor(() => outcomes.length === 96);
    await track('later');
    await waitFor(() => held.length > 0);
    held[0]!.end();
    await waitFor(() => outcomes.length === 97);
    expect(new Set(outcomes)).toEqual(new Set(['delivered']));
    expect(receiver.webhooks).toHaveLength(97);
  });
});
