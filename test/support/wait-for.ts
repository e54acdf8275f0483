import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once the condition holds; fails after `time` ms with what was waited for. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  what: () => string = () => condition.toString(),
  time = 60_000,
): Promise<void> {
  const end = Date.now() + time;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`timed out waiting for ${what()}`);
    await sleep(5);
  }
}
