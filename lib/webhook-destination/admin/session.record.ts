import { createHash } from 'node:crypto';

import { isPlainObject } from '../../client/message/message.rules.js';
import { parseJson } from '../../common/value.util.js';
import { SESSION_TIME } from '../queue/registry-store.interface.js';

/** A session as it is stored. */
export interface StoredSession {
  /** Ties the session to the token it was started with. */
  tie: string;
  /** Name of the token, or its access if it has none. */
  holder: string;
  startedAt: number;
  usedAt: number;
}

/** A session as a process knows it. */
export interface Session extends StoredSession {
  revision: number;
  /** Last use in this process, which may be later than the one that is stored. */
  seenAt: number;
}

/** Returns whether a session has ended by itself. */
export function isOver({ startedAt, seenAt }: Session, idleTimeout: number, now: number): boolean {
  return now >= Math.min(seenAt + idleTimeout, startedAt + SESSION_TIME);
}

/** Returns the name of the record of a session: the browser alone has the id. */
export function nameOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

/** Returns undefined for a text that this version has not written. */
export function parseSession(text: string): StoredSession | undefined {
  const value = parseJson(text);
  if (!isPlainObject(value)) return undefined;
  const { tie, holder, startedAt, usedAt } = value;
  const isText = typeof tie === 'string' && typeof holder === 'string';
  const isValid = isText && Number.isFinite(startedAt) && Number.isFinite(usedAt);
  return isValid ? { tie, holder, startedAt: startedAt as number, usedAt: usedAt as number } : undefined;
}
