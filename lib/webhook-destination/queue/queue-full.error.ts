import { QueueUnavailableError } from '../../common/relay.errors.js';

/** The queue has reached its size limit; it accepts messages again once it is smaller. Its code is `queue_full`. */
export class QueueFullError extends QueueUnavailableError {
  override readonly name = 'QueueFullError';

  constructor(message: string) {
    super(message, { code: 'queue_full' });
  }
}

/** Whether a queue refused messages because it is full, whichever build of this package it belongs to. */
export function isQueueFull(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'queue_full';
}
