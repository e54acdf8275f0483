import { isPlainObject } from '../message/message.rules.js';
import type { RejectedEvent } from './batch-transport.interface.js';

/** Reads the events that a receiver refused from its answer; other receivers name none. */
export function readRejected(body: string): RejectedEvent[] {
  if (!body.includes('"rejected"')) return [];
  try {
    const { rejected } = JSON.parse(body) as { rejected?: unknown };
    return Array.isArray(rejected) ? rejected.filter(isRejectedEvent) : [];
  } catch {
    return [];
  }
}

function isRejectedEvent(value: unknown): value is RejectedEvent {
  if (!isPlainObject(value)) return false;
  const { index, field, code, message } = value;
  return typeof index === 'number' && [field, code, message].every((text) => typeof text === 'string');
}
