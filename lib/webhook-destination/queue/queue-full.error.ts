/** A queue refuses messages, as it holds all that it may; it takes them again once it holds less. */
export class QueueFullError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QueueFullError';
  }
}

/** Whether a queue refused messages as it is full, whichever copy of this package it is of. */
export function isQueueFull(error: unknown): boolean {
  return error instanceof Error && error.name === 'QueueFullError';
}
