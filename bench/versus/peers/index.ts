import { bullmq } from './bullmq.peer.js';
import { floor } from './floor.peer.js';
import { graphileWorker } from './graphile-worker.peer.js';
import type { Peer } from './peer.js';
import { pgBoss } from './pg-boss.peer.js';
import { relay, relayInProcess } from './relay.peer.js';

/** Whose CPU a way also takes. */
export type Store = 'redis' | 'postgres';

/** The ways of forwarding, in the order of the table. */
export const PEERS: Record<string, { peer: Peer; store?: Store }> = {
  'floor: `node:http`, undici, nothing kept': { peer: floor },
  '**this package, SQLite**': { peer: relay('SQLite') },
  '**this package, SQLite**, in process': { peer: relayInProcess('SQLite') },
  '**this package, Redis**': { peer: relay('Redis'), store: 'redis' },
  '**this package, Redis**, in process': { peer: relayInProcess('Redis'), store: 'redis' },
  '**this package, PostgreSQL**': { peer: relay('PostgreSQL'), store: 'postgres' },
  '**this package, PostgreSQL**, in process': { peer: relayInProcess('PostgreSQL'), store: 'postgres' },
  'BullMQ and axios': { peer: bullmq('axios'), store: 'redis' },
  'BullMQ and undici': { peer: bullmq('undici'), store: 'redis' },
  'pg-boss and undici': { peer: pgBoss, store: 'postgres' },
  'graphile-worker and undici': { peer: graphileWorker, store: 'postgres' },
};
