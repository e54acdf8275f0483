import { isPlainObject, type MessageFault } from '../message/message.rules.js';
import type { RejectedEvent } from './batch-transport.interface.js';

/** The relay explains the first 100 refused events of a batch, and gives the index of the others. */
const UNEXPLAINED: MessageFault = {
  field: 'message',
  code: 'message_rejected',
  message: 'the receiver refused it, and explained only the first refused events of its batch',
};

/** Reads the events that a receiver refused from its answer; other receivers name none. */
export function readRejected(body: string): RejectedEvent[] {
  if (!body.includes('"rejected"')) return [];
  try {
    const { rejected, moreRejected } = JSON.parse(body) as { rejected?: unknown; moreRejected?: unknown };
    const others = toList(moreRejected).filter((index) => typeof index === 'number');
    return [...toList(rejected).filter(isRejectedEvent), ...others.map((index) => ({ index, ...UNEXPLAINED }))];
  } catch {
    return [];
  }
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRejectedEvent(value: unknown): value is RejectedEvent {
  if (!isPlainObject(value)) return false;
  const { index, field, code, message } = value;
  return typeof index === 'number' && [field, code, message].every((text) => typeof text === 'string');
}
