import { afterEach } from '@jest/globals';

/** What a test must undo; it is undone after each test, the last first. */
export function cleanUps(): (cleanUp: () => Promise<unknown> | void) => void {
  const pending: (() => Promise<unknown> | void)[] = [];
  afterEach(async () => {
    for (const cleanUp of pending.splice(0).reverse()) await cleanUp();
  });
  return (cleanUp) => void pending.push(cleanUp);
}
