import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { describe, expect, it } from '@jest/globals';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { hang, ScriptedReceiver } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

/** Answers in a thread of its own, once `state[1]` is set; counts its requests in `state[0]`. */
const RECEIVER = `
const { workerData: state, parentPort } = require('node:worker_threads');
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => {
    Atomics.add(state, 0, 1);
    Atomics.waitAsync(state, 1, 0).value.then?.(() => response.end('ok')) ?? response.end('ok');
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

const TIMEOUT = 2_000;

describe('A process that is paused for longer than delivery.timeout', () => {
  const cleanUp = useCleanUps();

  it.each(['undici', 'axios'] as const)('loses no answer that arrived in time (%s)', async (transport) => {
    const state = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(RECEIVER, { eval: true, workerData: state });
    cleanUp(() => worker.terminate());
    const [port] = (await once(worker, 'message')) as [number];
    const hung = await ScriptedReceiver.start(hang);
    cleanUp(() => hung.stop());
    const relay = await Relay.start({
      destinations: [
        { name: 'Answers', urls: [`http://127.0.0.1:${port}/hook`] },
        { name: 'Hangs', urls: [hung.url] },
      ],
      delivery: { transport, timeout: TIMEOUT, initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    });
    cleanUp(() => relay.stop());
    const ids = Array.from({ length: 16 }, (_, index) => `m${index}`);
    await relay.track(...ids);
    await waitFor(() => state[0] === ids.length && hung.active === ids.length);
    Atomics.store(state, 1, 1);
    Atomics.notify(state, 1);
    // Blocks the event loop.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TIMEOUT + 200);

    await waitFor(() => relay.events.length === 2 * ids.length);
    const outcomes = relay.events.map(({ destination, type }) => `${destination} ${type}`);
    expect(outcomes.filter((outcome) => outcome === 'Answers delivered')).toHaveLength(ids.length);
    expect(outcomes.filter((outcome) => outcome === 'Hangs retry')).toHaveLength(ids.length);
    expect(state[0]).toBe(ids.length);
  });
});
