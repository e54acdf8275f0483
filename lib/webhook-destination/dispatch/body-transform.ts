import { errorMessage } from '../../client/error.util.js';
import type { MessageType } from '../../client/message/message.interface.js';
import { toPrintable } from '../../client/printable.util.js';
import { isDiscardedPromise } from '../../common/promise.util.js';
import { TRANSFORM_FAILED } from '../queue/dead-reasons.js';
import type { Delivery, DeliveryOutcome } from '../queue/delivery.interface.js';

/** The message whose body a {@link BodyTransform} receives. */
export interface TransformedMessage {
  /** `delete` for a delete notification. */
  type: MessageType | 'delete';
  /** Event name of a `track` message. */
  event?: string | undefined;
  userId?: string | undefined;
  messageId: string;
  /** Name of its source. */
  source: string;
  /** Name of the destination. */
  destination: string;
}

/**
 * Creates the body that is sent from the body of a message, which it may change. Returns an object that can be
 * serialized as JSON, or undefined to send nothing.
 */
export type BodyTransform = (body: Record<string, unknown>, message: TransformedMessage) => object | undefined;

/** Returns the body that is sent, transformed if there is a transform; or the delivery's outcome if nothing is sent. */
export function bodyToSend(
  transform: BodyTransform | undefined,
  delivery: Readonly<Delivery>,
  now: number,
): Buffer | DeliveryOutcome {
  if (!transform) return delivery.body;
  const { source, destination, messageId, userId, failedUrls } = delivery;
  try {
    const body = JSON.parse(delivery.body.toString()) as Record<string, unknown>;
    const { type, event } = body as unknown as TransformedMessage;
    const made: unknown = transform(body, { type, event, userId, messageId, source, destination });
    if (made === undefined) return { state: 'delivered', attempt: { startedAt: now, results: [] } };
    return toJson(made);
  } catch (error) {
    // Every queue can store printable text.
    const reason = toPrintable(errorMessage(error));
    return { state: 'dead', reason: `${TRANSFORM_FAILED}: ${reason}`, failedUrls };
  }
}

function toJson(made: unknown): Buffer {
  if (isDiscardedPromise(made)) throw new TypeError('it must be synchronous, but returned a promise');
  const json = typeof made === 'object' && made !== null ? (JSON.stringify(made) as string | undefined) : undefined;
  if (json === undefined) throw new TypeError('it must return a JSON-serializable object, or undefined');
  return Buffer.from(json);
}
