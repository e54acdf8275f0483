import { readdirSync, readFileSync } from 'node:fs';

import type { SharedEngine } from './shared.stores.js';

/** Length of the ticks that Linux counts CPU time in, in ms. */
const TICK = 10;

/** CPU time that the store's processes on this machine have taken so far, in ms; 0 where that cannot be read. */
export function storeCpu(engine: SharedEngine): number {
  const program = engine === 'redis' ? 'redis-server' : 'postgres';
  let ticks = 0;
  for (const pid of processes()) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      if (!stat.includes(`(${program})`)) continue;
      // After the name: user and system time, and that of the children that have ended.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // it has ended meanwhile, and its parent counts it
    }
  }
  return ticks * TICK;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
