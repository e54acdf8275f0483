import { QueueUnavailableError } from '../../common/relay.errors.js';

/** The queue has reached its size limit; it accepts messages again once it is smaller. The code is `queue_full`. */
export class QueueFullError extends QueueUnavailableError {
  override readonly name = 'QueueFullError';

  constructor(message: string) {
    super(message, { code: 'queue_full' });
  }
}

/** Whether an error means that a queue is full, also if the error comes from another build of this package. */
export function isQueueFull(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'queue_full';
}
