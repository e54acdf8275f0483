/** How long an answer is used again, as a multiple of the time that it took. */
const REUSE = 300;

/** The longest such time, in ms. */
const MAX_REUSE = 15_000;

/**
 * Asks once for all that ask meanwhile, and for a while after: what takes long is used again for longer. However many
 * ask, they keep the asked one busy for 0.3 % of the time, if an answer takes less than 50 ms.
 */
export function sparing<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let until = Infinity;
  return () => {
    if (answer && performance.now() < until) return answer;
    const began = performance.now();
    until = Infinity;
    const asked = ask();
    answer = asked;
    asked.then(
      () => {
        const now = performance.now();
        until = now + Math.min((now - began) * REUSE, MAX_REUSE);
      },
      () => (answer = undefined),
    );
    return asked;
  };
}
