import type { DestinationJobs } from './shared-store.interface.js';

/** Jobs made due with one command, as Redis does nothing else meanwhile. */
const PORTION = 1_000;

/** Makes the jobs of a queue due that wait for their time; resolves with their number. */
export async function promoteJobs({ backend }: DestinationJobs): Promise<number> {
  const [waiting = 0] = await backend.getCounts(['delayed']);
  for (let left = waiting; left > 0; left -= PORTION) await backend.promoteJobs(Math.min(left, PORTION));
  return waiting;
}
