import {
  type RegistryRecord,
  type RegistryStore,
  REVOCATION_START,
} from '../webhook-destination/queue/registry-store.interface.js';
import { countOf, defineCommand } from './command.util.js';
import { DeliveryMove } from './delivery-move.js';
import { DEFAULT_FILE, openFile, storeQueue } from './queue-options.util.js';

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay migrate --to <url> [options]

Moves the pending deliveries of a SQLite queue to a queue on Redis or PostgreSQL, and copies the sources and
destinations that were created while the application ran. The application that has the file open must be stopped
first; applications that use the new queue may keep running.

  --to <url>       redis://, rediss:// or postgres://
  --from <file>    the SQLite file; default: ./data/relay.db
  --prefix <name>  prefix of the new queue; default: relay
  --dead           also move dead deliveries and deliver them again; default: they stay in the file
  --help           show this help
`,
  options: {
    from: { type: 'string', default: DEFAULT_FILE },
    to: { type: 'string' },
    prefix: { type: 'string' },
    dead: { type: 'boolean', default: false },
  },
  run: async ({ from, to, prefix, dead }) => {
    const target = storeQueue('to', to, prefix, true);
    const source = await openFile(from, false);
    try {
      await target.open();
      const { copied, kept } = await copyRegistry(source.registry, target.registry);
      if (dead) await source.replay({});
      const moved = await new DeliveryMove(source, target).run();
      const left = (await source.counts()).filter(({ state }) => state === 'dead');
      const count = left.reduce((sum, row) => sum + row.count, 0);
      const entries = countOf(copied, 'source or destination', 'sources and destinations');
      const others = countOf(kept, 'source or destination differs', 'sources and destinations differ');
      const remaining = countOf(count, 'dead delivery remains', 'dead deliveries remain');
      if (copied > 0) print(`${entries} copied`);
      if (kept > 0) print(`${others} in the new queue; not copied`);
      print(`${countOf(moved, 'delivery', 'deliveries')} moved`);
      if (count > 0) print(`${remaining} in ${from}; use --dead to deliver ${count === 1 ? 'it' : 'them'} again`);
    } finally {
      await target.close();
      await source.close();
    }
  },
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Copies records that the new queue never had. Records changed or removed there since the last run stay so. Documents
 * are copied as they are, so an encrypted one needs the same `registrySecret`.
 */
async function copyRegistry(
  source: RegistryStore | undefined,
  target: RegistryStore,
): Promise<{ copied: number; kept: number }> {
  const present = new Map((await target.read(0)).map((record) => [keyOf(record), record.document]));
  let copied = 0;
  let kept = 0;
  for (const record of (await source?.read(0)) ?? []) {
    const { document } = record;
    // The browser of a session signs in again. A revocation must stay in force.
    if (record.kind === 'session' && !record.name.startsWith(REVOCATION_START)) continue;
    const key = keyOf(record);
    const isCopied = !present.has(key) && (await target.write(record, 0)) !== undefined;
    // A removal is copied as well, because it ends the deliveries that are moved.
    if (isCopied) copied += document === undefined ? 0 : 1;
    else if (present.get(key) !== document) kept++;
  }
  return { copied, kept };
}

function keyOf({ kind, name }: RegistryRecord): string {
  return `${kind} ${name}`;
}
