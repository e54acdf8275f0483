import { afterEach } from 'vitest';

/** Registers what ends something that a test started. */
export type Afterwards = (cleanUp: () => unknown) => void;

/** What the tests of a file started; ended after each test, the last started first. */
export function useCleanUps(): Afterwards {
  const cleanUps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  return (cleanUp) => cleanUps.push(cleanUp);
}
