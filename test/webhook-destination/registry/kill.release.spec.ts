import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

import { type DeliveryQueueFactory, type DestinationEntry, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { describeOnEach, postgresStore, redisStore } from '../../support/services.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const KILLS = 3;

/** Changes between two kills, at least. */
const CHANGES = 20;

interface Change {
  name: string;
  change: 'create' | 'update' | 'pause' | 'resume' | 'remove';
  count: string;
}

/** What a test knows of a destination; undefined while there is none. */
type Known = { paused: boolean; count: string | undefined } | undefined;

function after(known: Known, { change, count }: Change): Known {
  if (change === 'create') return { paused: false, count: undefined };
  if (change === 'remove') return undefined;
  if (change === 'update') return { paused: known!.paused, count };
  return { ...known!, paused: change === 'pause' };
}

const shown = (entry: DestinationEntry | undefined): Known =>
  entry && { paused: entry.paused, count: entry.metadata.count };

/** A process that changes the registry, as its test sees it. */
class Changer {
  readonly known = new Map<string, Known>();
  /** Begun, and not known to be done. */
  open: Change | undefined;
  changes = 0;
  private child!: ChildProcess;

  constructor(
    readonly prefix: string,
    private readonly place: object,
  ) {}

  async start(): Promise<void> {
    this.child = fork('test/apps/registry.app.mjs', [JSON.stringify({ prefix: this.prefix, ...this.place })]);
    await once(this.child, 'message');
    this.child.on('message', ({ begun, done }: { begun?: Change; done?: Change }) => {
      this.open = begun;
      if (!done) return;
      this.known.set(done.name, after(this.known.get(done.name), done));
      this.changes++;
    });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'close');
  }
}

const cleanUp = useCleanUps();

async function change(queue: DeliveryQueueFactory, changers: Changer[]): Promise<void> {
  for (let kills = 0; kills < KILLS; kills++) {
    for (const changer of changers) await changer.start();
    cleanUp(async () => void (await Promise.all(changers.map((changer) => changer.kill()))));
    const before = changers.map(({ changes }) => changes);
    await waitFor(() => changers.every(({ changes }, index) => changes >= before[index]! + CHANGES));
    await Promise.all(changers.map((changer) => changer.kill()));

    const relay = await Relay.start({ registry: 'store', queue });
    const entries = await relay.service.destinations.list({ limit: 1_000 });
    await relay.stop();
    const found = new Map(entries.map((entry) => [entry.name, shown(entry)]));
    for (const { known, open } of changers) {
      for (const [name, expected] of known) {
        const allowed = [expected, ...(open?.name === name ? [after(expected, open)] : [])];
        expect(allowed).toContainEqual(found.get(name));
      }
      if (open) known.set(open.name, found.get(open.name));
    }
  }
}

describe('A change that was acknowledged survives SIGKILL', () => {
  it('on SQLite', async () => {
    const folder = await temporaryFolder(cleanUp);
    const path = folder.path('relay.db');
    await change(sqliteQueue({ path }), [new Changer('tenant', { path })]);
  });
});

await describeOnEach([redisStore, postgresStore], (store) => {
  it(`A change that was acknowledged survives SIGKILL of two processes that share ${store.name}`, async () => {
    const { options, remove } = store.create();
    cleanUp(remove);
    const changers = ['one', 'other'].map((prefix) => new Changer(prefix, { shared: options }));
    await change(sharedQueue(options), changers);
  });
});
