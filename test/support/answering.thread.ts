import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Counts its requests in `state[0]`, and answers them once `state[1]` is set. */
const SERVER = `
const { workerData: state, parentPort } = require('node:worker_threads');
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => {
    Atomics.add(state, 0, 1);
    Atomics.waitAsync(state, 1, 0).value.then?.(() => response.end('{}')) ?? response.end('{}');
  });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** A server in a thread of its own, which answers when it is told to, even while the test blocks the event loop. */
export class AnsweringThread {
  private constructor(
    readonly url: string,
    private readonly worker: Worker,
    private readonly state: Int32Array,
  ) {}

  static async start(): Promise<AnsweringThread> {
    const state = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(SERVER, { eval: true, workerData: state });
    const [port] = (await once(worker, 'message')) as [number];
    return new AnsweringThread(`http://127.0.0.1:${port}/`, worker, state);
  }

  get requests(): number {
    return this.state[0]!;
  }

  answer(): void {
    Atomics.store(this.state, 1, 1);
    Atomics.notify(this.state, 1);
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

/** Blocks the event loop for this time, in ms, so that timers are next, and sockets after them. */
export async function blockEventLoop(time: number): Promise<void> {
  await setImmediate();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time);
}
