import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AttemptRecord, DeliveryCount, DeliveryState } from 'nestjs-analytics-relay';

import { CrashReceiver, type Edges, kinds } from './crash.receiver.js';

/** Deliveries in flight at once. */
const CONCURRENCY = 8;

/** Deliveries in flight or on their way onto the disk: so many at most may go out twice for each kill. */
export const UNRECORDED = 3 * CONCURRENCY;

const EDGES: (keyof Edges | 'random')[] = [
  'posted',
  'accepted',
  'attempted',
  'succeeded',
  'random',
  'failed',
  'retried',
  'refused',
  'settled',
  'random',
];

const BATCH = 2;

/** Requests side by side: enough that many wait for the same commit. */
const POSTERS = 32;

interface Said {
  ready?: true;
  host?: string;
  settled?: 'delivered' | 'retry' | 'dead';
  messageId?: string;
  counts?: DeliveryCount[];
  records?: { messageId: string; state: DeliveryState; attempts: AttemptRecord[] }[];
}

/** One file, one receiver, and one relay after the other, each under load until it is killed. */
export class CrashLane {
  /** Messages answered with 200. */
  readonly acknowledged = new Set<string>();
  /** Messages that were attempted again although their delivery had been recorded. */
  readonly wrongly: string[] = [];
  /** The moments that it was killed at. */
  readonly moments: string[] = [];
  receiver!: CrashReceiver;

  private readonly edges = new EventEmitter<Edges>();
  /** Messages whose delivery or death the relay has recorded. */
  private readonly recorded = new Set<string>();
  private relay!: ChildProcess;
  private next: ChildProcess;
  private lastMessage = 0;
  private loading: Promise<void> = Promise.resolve();

  /** @param first which of the moments the first kill comes at */
  constructor(
    private readonly path: string,
    private readonly first: number,
  ) {
    this.next = this.spawn();
  }

  async open(): Promise<void> {
    this.receiver = await CrashReceiver.start(this.edges, (messageId) => {
      if (this.recorded.has(messageId)) this.wrongly.push(messageId);
    });
  }

  /** Starts a relay, puts it under load, and kills it at the moment that is due. */
  async killOne(): Promise<void> {
    const host = await this.start();
    const moment = EDGES[(this.first + this.moments.length) % EDGES.length]!;
    this.load(host);
    if (moment === 'random') await sleep(150 * Math.random());
    else await this.occurs(moment, 1 + Math.floor(12 * Math.random()));
    const ended = once(this.relay, 'exit');
    this.relay.kill('SIGKILL');
    await ended;
    await this.loading;
    this.moments.push(moment);
  }

  /** Asks a relay under load to end; resolves with its exit code and how long it took, in ms. */
  async terminateOne(): Promise<{ code: number | null; elapsed: number }> {
    this.load(await this.start());
    await this.occurs('settled', 50);
    const at = Date.now();
    const ended = once(this.relay, 'exit') as Promise<[number | null]>;
    this.relay.kill('SIGTERM');
    const [code] = await ended;
    await this.loading;
    return { code, elapsed: Date.now() - at };
  }

  /** Lets a last relay finish; resolves with the records it has. */
  async finish(): Promise<NonNullable<Said['records']>> {
    await this.start();
    for (;;) {
      const { counts } = await this.ask({ counts: true });
      if (counts!.every(({ state }) => state === 'delivered' || state === 'dead')) break;
      await sleep(50);
    }
    return (await this.ask({ records: true })).records!;
  }

  async close(): Promise<void> {
    this.relay?.kill('SIGKILL');
    this.next.kill('SIGKILL');
    await this.receiver.stop();
  }

  /** A process that has loaded the package, and waits to be told to open the file. */
  private spawn(): ChildProcess {
    return fork('test/apps/crash.app.mjs', { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  }

  private async start(): Promise<string> {
    const relay = (this.relay = this.next);
    if (!relay.channel) throw new Error('the relay ended by itself');
    relay.on('message', ({ settled, messageId }: Said) => {
      if (settled === undefined) return;
      if (settled !== 'retry') this.recorded.add(messageId!);
      this.edges.emit('settled');
    });
    const delivery = { concurrency: CONCURRENCY, initialRetryDelay: 20, maxRetryDelay: 50 };
    const { host } = await this.ask({ start: { path: this.path, url: this.receiver.url, delivery } });
    this.next = this.spawn();
    return host!;
  }

  private ask(order: object): Promise<Said> {
    const { relay } = this;
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error('the relay ended by itself'));
      const onMessage = (said: Said) => {
        if (said.ready || said.settled) return;
        relay.off('message', onMessage).off('exit', onExit);
        resolve(said);
      };
      relay.on('message', onMessage).once('exit', onExit).send(order);
    });
  }

  /** Posts batches, many side by side, until the relay is gone. */
  private load(host: string): void {
    const { relay } = this;
    // A connection that a killed process had not accepted yet can leave `fetch` waiting for good.
    const gone = new AbortController();
    relay.once('exit', () => gone.abort());
    const post = async () => {
      while (relay.exitCode === null && relay.signalCode === null) {
        const messageIds = Array.from(
          { length: BATCH },
          () => `${kinds[this.lastMessage % 5] ?? 'ok'}-${this.lastMessage++}`,
        );
        const batch = messageIds.map((messageId) => ({ type: 'track', messageId, userId: 'u1', event: 'Load' }));
        try {
          const answer = fetch(`${host}/v1/batch`, {
            method: 'POST',
            body: JSON.stringify({ batch, writeKey: 'wk_shop' }),
            signal: gone.signal,
          });
          setImmediate(() => this.edges.emit('posted'));
          if ((await answer).status !== 200) return;
          for (const messageId of messageIds) this.acknowledged.add(messageId);
          this.edges.emit('accepted');
        } catch {
          return;
        }
      }
    };
    this.loading = Promise.all(Array.from({ length: POSTERS }, post)).then(() => undefined);
  }

  /** Resolves as the moment comes for the given time. */
  private occurs(edge: keyof Edges, times: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${edge} did not occur`)), 60_000);
      const count = () => {
        if (--times > 0) return;
        clearTimeout(late);
        this.edges.off(edge, count);
        resolve();
      };
      this.edges.on(edge, count);
    });
  }
}
