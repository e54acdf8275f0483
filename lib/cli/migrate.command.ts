import { bufferTime, concatMap, filter, lastValueFrom, Subject, takeUntil } from 'rxjs';

import type { BullmqDeliveryQueue } from '../webhook-destination/queue/bullmq/bullmq-delivery.queue.js';
import type {
  DeliveryOutcome,
  DeliveryQueue,
  DeliveryState,
  Lease,
} from '../webhook-destination/queue/delivery-queue.interface.js';
import { parseCommandArgs } from './command.args.js';
import { DEFAULT_FILE, openFile, storeQueue } from './queue.source.js';

export const MIGRATE_USAGE = `Usage: nestjs-analytics-relay migrate --to <url> [options]

Moves the pending deliveries of a SQLite queue to a queue on Redis or PostgreSQL. The application that has the file
open must have ended; the one that uses the new queue may run.

  --to <url>       redis://, rediss:// or postgres://
  --from <file>    the SQLite file; default: ./data/relay.db
  --prefix <name>  prefix of the new queue; default: relay
  --dead           dead deliveries are delivered again; default: they stay in the file
  --help           print this
`;

/** Deliveries moved at once. */
const GROUP = 256;

/** How long a group waits to be full, in ms. */
const GROUP_TIME = 5;

/**
 * Moves the pending deliveries of a SQLite queue to a queue on Redis or PostgreSQL: each is added there before it is
 * done with here, so that the command can be broken off and run again.
 *
 * @returns The exit code.
 * @throws {Error} that tells what is wrong with the arguments, the file or the store.
 */
export async function runMigrate(args: string[]): Promise<number> {
  const { values } = parseCommandArgs('migrate', {
    args,
    options: {
      from: { type: 'string', default: DEFAULT_FILE },
      to: { type: 'string' },
      prefix: { type: 'string' },
      dead: { type: 'boolean', default: false },
    },
  });
  const { from, to, prefix, dead } = values;
  const target = storeQueue('migrate', 'to', to, prefix, true);
  const source = await openFile('migrate', from, false);
  try {
    await target.open();
    if (dead) await source.replay({});
    let moved = 0;
    for (const destination of new Set((await source.counts()).map((row) => row.destination))) {
      moved += (await moveDue(source, target, destination)) + (await moveWaiting(source, target, destination));
    }
    const left = await count(source, 'dead');
    process.stdout.write(`${moved} deliveries moved\n`);
    if (left > 0) process.stdout.write(`${left} dead ones stay in ${from}; with --dead they are delivered again\n`);
    return 0;
  } finally {
    await target.close();
    await source.close();
  }
}

/** Moves what is due, the oldest first. */
async function moveDue(source: DeliveryQueue, target: BullmqDeliveryQueue, destination: string): Promise<number> {
  const end = new Subject<void>();
  let moved = 0;
  const move = async (leases: Lease[]) => {
    await target.takeOver(leases.map(({ delivery }) => delivery));
    // For this file it is done: it has no way to take out single deliveries that is as fast.
    const outcome: DeliveryOutcome = { state: 'delivered', attempt: { startedAt: Date.now(), results: [] } };
    await Promise.all(leases.map((lease) => lease.settle(outcome)));
    moved += leases.length;
  };
  const moving = lastValueFrom(
    source.consume(destination, GROUP).pipe(
      takeUntil(end),
      bufferTime(GROUP_TIME, null, GROUP),
      filter((leases) => leases.length > 0),
      concatMap(move),
    ),
    { defaultValue: undefined },
  );
  await Promise.race([moving, source.idle()]);
  end.next();
  await moving;
  return moved;
}

/** Moves what waits for a retry. */
async function moveWaiting(source: DeliveryQueue, target: BullmqDeliveryQueue, destination: string): Promise<number> {
  const query = { destination, state: 'waiting' } as const;
  let after: string | undefined;
  for (;;) {
    const records = await source.list(query, { limit: GROUP, after });
    if (records.length === 0) return source.purge(query);
    await target.takeOver(records.map((record) => ({ ...record, body: Buffer.from(record.body) })));
    after = records[records.length - 1]!.id;
  }
}

async function count(queue: DeliveryQueue, state: DeliveryState): Promise<number> {
  const rows = (await queue.counts()).filter((row) => row.state === state);
  return rows.reduce((sum, row) => sum + row.count, 0);
}
