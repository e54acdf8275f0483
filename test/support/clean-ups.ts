import { afterEach } from '@jest/globals';

/** What the tests of a file started; ended after each test, the last started first. */
export function useCleanUps(): (cleanUp: () => unknown) => void {
  const cleanUps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  return (cleanUp) => cleanUps.push(cleanUp);
}
