declare module 'async' {
  /** The part of the package that is used here. */
  export function queue<T>(
    worker: (task: T) => Promise<unknown>,
    concurrency: number,
  ): { push(task: T): Promise<void> };
}
