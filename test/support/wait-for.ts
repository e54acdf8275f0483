import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once the condition holds; fails after a minute with what was waited for. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  what: () => string = () => condition.toString(),
): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what()}`);
    await sleep(5);
  }
}
