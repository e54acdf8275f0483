import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { Agent, request } from 'undici';

import type { CrashReceiver } from '../crash/crash.receiver.js';
import { kinds } from '../crash/crash.receiver.js';
import type { OwnService } from '../support/own-services.js';
import { waitFor } from '../support/wait-for.js';

/** Deliveries in flight at once in a process: so many at most may go out twice when it is killed. */
export const CONCURRENCY = 32;

/** Messages in a posted batch. */
const BATCH = 50;

/** Batches posted side by side. */
const POSTERS = 6;

/** What is killed, in turn, as the load goes on; by index of the process. */
const VICTIMS = [2, 0, 3, 1, 2, 0, 3, 1];

interface Member {
  mode: 'ingest' | 'deliver';
  child: ChildProcess;
  host: string;
}

/** Two processes that take messages and two that deliver them, on one store, under load. */
export class Cluster {
  /** Messages answered with 200. */
  readonly acknowledged: string[] = [];
  /** Batches that were refused, or not answered, and posted again. */
  repeated = 0;
  /** Those of them that were answered with 503. */
  refused = 0;
  kills = { ingest: 0, deliver: 0, store: 0 };

  private readonly members: Member[] = [];
  private readonly agent = new Agent({ connections: POSTERS });
  private lastMessage = 0;
  private limit = 0;
  private lastPost = 0;

  constructor(
    private readonly store: OwnService,
    private readonly receiver: CrashReceiver,
  ) {}

  async start(): Promise<void> {
    for (const mode of ['ingest', 'ingest', 'deliver', 'deliver'] as const) this.members.push(await this.spawn(mode));
  }

  /**
   * Posts messages until as many are acknowledged. Meanwhile each process is killed twice, and the store once; the load
   * goes on between two kills, and waits where a kill takes its time.
   */
  async load(count: number): Promise<void> {
    const part = count / (VICTIMS.length + 1);
    this.limit = 2 * part;
    const posters = Array.from({ length: POSTERS }, () => this.post(count));
    const killing = (async () => {
      for (const [index, victim] of VICTIMS.entries()) {
        await this.reached(part * (index + 1));
        await this.replace(victim);
        this.limit += part;
        if (index === VICTIMS.length / 2) await this.replaceStore();
      }
    })();
    await Promise.all([...posters, killing]);
  }

  async stop(): Promise<void> {
    for (const { child } of this.members) child.kill('SIGKILL');
    await this.agent.close();
  }

  private async spawn(mode: Member['mode']): Promise<Member> {
    const options = { mode, queue: this.store.options, url: this.receiver.url, concurrency: CONCURRENCY };
    const child = fork('test/apps/cluster.app.mjs', [JSON.stringify(options)]);
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('a process of the cluster did not start')));
    const [{ host }] = (await Promise.race([once(child, 'message'), ended])) as [{ host: string }];
    ended.catch(() => undefined);
    return { mode, child, host };
  }

  private async replace(index: number): Promise<void> {
    const { mode, child } = this.members[index]!;
    if (child.exitCode !== null) throw new Error(`a process of the cluster ended by itself with ${child.exitCode}`);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    this.kills[mode]++;
    this.members[index] = await this.spawn(mode);
  }

  /** There are messages left to post, so some are refused meanwhile. */
  private async replaceStore(): Promise<void> {
    const { refused } = this;
    this.kills.store++;
    await this.store.kill();
    await waitFor(() => this.refused > refused);
    await this.store.start();
  }

  private async reached(count: number): Promise<void> {
    while (this.acknowledged.length < count) await sleep(20);
  }

  /** As an SDK does, it posts a batch again, to one process or the other, until it is acknowledged. */
  private async post(count: number): Promise<void> {
    while (this.lastMessage < count) {
      if (this.lastMessage >= this.limit) {
        await sleep(20);
        continue;
      }
      const ids = Array.from({ length: BATCH }, () => `${kinds[this.lastMessage % 7] ?? 'ok'}-${this.lastMessage++}`);
      const batch = ids.map((messageId) => ({ type: 'track', messageId, userId: 'u1', event: 'Load' }));
      const body = JSON.stringify({ batch, writeKey: 'wk_shop' });
      while (!(await this.isTaken(body))) {
        this.repeated++;
        await sleep(100);
      }
      this.acknowledged.push(...ids);
    }
  }

  private async isTaken(body: string): Promise<boolean> {
    const ingest = this.members.filter(({ mode }) => mode === 'ingest');
    const { host } = ingest[this.lastPost++ % ingest.length]!;
    try {
      const headers = { 'content-type': 'application/json' };
      const options = { method: 'POST', headers, body, dispatcher: this.agent, headersTimeout: 15_000 } as const;
      const answer = await request(`${host}/v1/batch`, options);
      await answer.body.dump();
      if (answer.statusCode === 503) this.refused++;
      else if (answer.statusCode !== 200) throw new Error(`a post was answered ${answer.statusCode}`);
      return answer.statusCode === 200;
    } catch (error) {
      if (isUnanswered(error)) return false;
      throw error;
    }
  }
}

/** Whether a post met a process that was killed, or was not there yet. */
function isUnanswered(error: unknown): boolean {
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes((error as { code?: string }).code ?? '');
}
