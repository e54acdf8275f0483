import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { DeliveryCount } from 'nestjs-analytics-relay';
import { request } from 'undici';

import type { SharedQueueOptions } from '../support/shared-queue.js';
import { Random } from '../support/random.js';
import { ScriptedReceiver } from '../support/scripted-receiver.js';
import { Tenant } from './tenant.js';

const PROCESSES = 4;

/** Destinations at one time, at most. */
const TENANTS = 8;

/** Messages in a posted batch. */
const BATCH = 2;

/** Times between two posts, two changes and two kills, in ms. */
const PACE = { post: 100, change: 50, kill: 2_500 };

/** How long an old secret stays valid, in ms. */
const OVERLAP = 1_500;

/** A message that was posted until it was acknowledged, in ms since the epoch. */
interface Message {
  messageId: string;
  began: number;
  acknowledged: number;
}

/** A process, and what it was asked and has not answered. */
class Member {
  private readonly open = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  private lastCall = 0;

  private constructor(
    readonly child: ChildProcess,
    readonly host: string,
  ) {
    child.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
      const call = this.open.get(id)!;
      this.open.delete(id);
      if (error === undefined) call.resolve(result as never);
      else call.reject(new Error(error));
    });
    child.once('exit', () => {
      for (const { reject } of this.open.values()) reject(new Killed());
    });
  }

  static async start(queue: SharedQueueOptions): Promise<Member> {
    const child = fork('test/apps/tenants.app.mjs', [JSON.stringify(queue)]);
    const [{ host }] = (await once(child, 'message')) as [{ host: string }];
    return new Member(child, host);
  }

  /** Calls a method of `service.destinations`. */
  call<T>(method: string, ...args: unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = ++this.lastCall;
      this.open.set(id, { resolve, reject });
      this.child.send({ id, method, args }, (error) => {
        if (error) reject(new Killed());
      });
    });
  }

  async kill(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

class Killed extends Error {}

/** Processes that share a queue and its registry, under load, while destinations change and processes are killed. */
export class Tenants {
  readonly all: Tenant[] = [];
  readonly messages: Message[] = [];
  kills = 0;
  changes = 0;

  private readonly byName = new Map<string, Tenant>();
  private readonly members: Member[] = [];
  private receiver!: ScriptedReceiver;
  private lastMessage = 0;
  private isRunning = true;

  constructor(
    private readonly queue: SharedQueueOptions,
    private readonly random: Random,
  ) {}

  async start(): Promise<void> {
    this.receiver = await ScriptedReceiver.start((response) => {
      const { path, ...webhook } = this.receiver.webhooks.pop()!;
      this.byName.get(path.split('/')[1]!)!.take({ ...webhook, path });
      response.writeHead(this.random.chance(0.05) ? 503 : 200).end();
    });
    for (let index = 0; index < PROCESSES; index++) this.members.push(await Member.start(this.queue));
  }

  /** Changes destinations, posts messages and kills processes, until so many were killed. */
  async run(kills: number): Promise<void> {
    const changing = this.repeat(PACE.change, () => this.change());
    const posting = this.repeat(PACE.post, () => this.post());
    while (this.kills < kills) {
      await sleep(PACE.kill);
      const index = this.random.integer(0, PROCESSES - 1);
      await this.members[index]!.kill();
      this.kills++;
      this.members[index] = await Member.start(this.queue);
    }
    this.isRunning = false;
    await Promise.all([changing, posting]);
    for (const tenant of this.present()) if (tenant.isPaused) await this.resume(tenant);
  }

  /** Counts of deliveries, with what is known of their destinations. */
  describe(counts: DeliveryCount[]): string {
    return counts
      .map(({ destination, state, count }) => {
        const { isUncertain, isPaused, existence } = this.byName.get(destination)!;
        return `${count} ${state} to ${destination} ${JSON.stringify({ isUncertain, isPaused, existence })}`;
      })
      .join('; ');
  }

  async stop(): Promise<void> {
    for (const { child } of this.members) child.kill('SIGKILL');
    await this.receiver.stop();
  }

  private async repeat(pace: number, work: () => Promise<void>): Promise<void> {
    for (; this.isRunning; await sleep(pace)) await work();
  }

  private present(): Tenant[] {
    return this.all.filter(({ existence, isUncertain }) => existence.until === Infinity && !isUncertain);
  }

  private async change(): Promise<void> {
    const present = this.present();
    if (present.length < TENANTS && (present.length < 2 || this.random.chance(0.2))) return this.create();
    const tenant = this.random.pick(present);
    const change = this.random.pick(['pause', 'pause', 'update', 'rotate', 'remove'] as const);
    if (tenant.isPaused && this.random.chance(0.5)) await this.resume(tenant);
    else await this[change](tenant);
  }

  private async create(): Promise<void> {
    const tenant = new Tenant(`tenant-${this.all.length}`);
    this.all.push(tenant);
    this.byName.set(tenant.name, tenant);
    const [path, url] = this.nextPath(tenant);
    const from = Date.now();
    tenant.paths.push({ path, from, until: Infinity });
    const entry = { name: tenant.name, urls: [url], retryOn: 'any-failure' };
    const created = await this.call<{ sharedSecret: string }>(tenant, 'create', entry);
    if (!created) return;
    tenant.secrets.push({ secret: created.sharedSecret, from, until: Infinity });
    tenant.existence.from = Date.now();
  }

  private async pause(tenant: Tenant): Promise<void> {
    if (tenant.isPaused || !(await this.call(tenant, 'pause', tenant.name))) return;
    tenant.pauses.push({ from: Date.now(), until: Infinity });
  }

  private async resume(tenant: Tenant): Promise<void> {
    tenant.pauses.at(-1)!.until = Date.now();
    await this.call(tenant, 'resume', tenant.name);
  }

  private async update(tenant: Tenant): Promise<void> {
    const [path, url] = this.nextPath(tenant);
    const last = tenant.paths.at(-1)!;
    tenant.paths.push({ path, from: Date.now(), until: Infinity });
    if (await this.call(tenant, 'update', tenant.name, { urls: [url] })) last.until = Date.now();
  }

  private async rotate(tenant: Tenant): Promise<void> {
    const from = Date.now();
    const rotated = await this.call<{ sharedSecret: string }>(tenant, 'rotateSecret', tenant.name, {
      overlap: OVERLAP,
    });
    if (!rotated) return;
    const now = Date.now();
    tenant.secrets.forEach((old, index, { length }) => {
      old.until = Math.min(old.until, index === length - 1 ? now + OVERLAP : now);
    });
    tenant.secrets.push({ secret: rotated.sharedSecret, from, until: Infinity });
  }

  private async remove(tenant: Tenant): Promise<void> {
    tenant.removalFrom = Date.now();
    if (await this.call(tenant, 'remove', tenant.name)) tenant.existence.until = Date.now();
  }

  /** Each address of a tenant has a path of its own. */
  private nextPath({ name, paths }: Tenant): [path: string, url: string] {
    const path = `/${name}/${paths.length}`;
    return [path, `http://127.0.0.1:${this.receiver.port}${path}`];
  }

  /** Has a process change a destination; where it is killed meanwhile, another one removes what may be there. */
  private async call<T>(tenant: Tenant, method: string, ...args: unknown[]): Promise<T | undefined> {
    try {
      const result = await this.random.pick(this.members).call<T>(method, ...args);
      this.changes++;
      return result;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      tenant.isUncertain = true;
      await this.removeIfThere(tenant.name);
      return undefined;
    }
  }

  private async removeIfThere(name: string): Promise<void> {
    for (;;) {
      try {
        await this.random.pick(this.members).call('remove', name);
        return;
      } catch (error) {
        if ((error as Error).message.startsWith('destination_unknown')) return;
        if (!(error instanceof Killed)) throw error;
        await sleep(PACE.change);
      }
    }
  }

  private async post(): Promise<void> {
    const ids = Array.from({ length: BATCH }, () => `m${this.lastMessage++}`);
    const batch = ids.map((messageId) => ({ type: 'track', messageId, userId: 'u1', event: 'Load' }));
    const body = JSON.stringify({ batch, writeKey: 'wk_shop' });
    const began = Date.now();
    while (!(await this.isTaken(body))) await sleep(PACE.post);
    for (const messageId of ids) this.messages.push({ messageId, began, acknowledged: Date.now() });
  }

  private async isTaken(body: string): Promise<boolean> {
    const { host } = this.random.pick(this.members);
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(`${host}/v1/batch`, { method: 'POST', headers, body, headersTimeout: 15_000 });
      await answer.body.dump();
      return answer.statusCode === 200;
    } catch {
      return false; // killed
    }
  }
}
