import { createHmac, randomBytes } from 'node:crypto';

import { type AuditEntry, shorten } from '../../observe/audit.log.js';

/** Digests of users, from which their ids cannot be read. */
interface UserDigests {
  /** Random key of these digests: those of one user in two entries differ. */
  key: string;
  /** All digests in a row, each of {@link LENGTH} characters. */
  digests: string;
}

/** Length of a digest in characters: 132 bits. */
const LENGTH = 22;

/** An entry as it is stored. */
export interface KeptEntry extends Omit<AuditEntry, 'userIds'> {
  id: string;
  /** Digests of the users that the action concerns. */
  users?: UserDigests | undefined;
  /** Number of refusals that the entry stands for. */
  count?: number;
  /** Time of the last one of them, in ms since the epoch. */
  lastAt?: number;
}

export type ActivityResult = 'done' | 'failed' | 'refused';

/** An entry as the API answers it. */
export interface ActivityEntry extends Omit<KeptEntry, 'users'> {
  result: ActivityResult;
}

/** Selects entries; all given fields must match. */
export interface ActivityQuery {
  /** An action, or what one begins with, up to a dot. */
  what?: string | undefined;
  /** Name of a token, user or tenant, an address, or how the caller signed in. */
  who?: string | undefined;
  /** Name or id that the action concerns. */
  target?: string | undefined;
  /** User that the action concerns. */
  userId?: string | undefined;
  /** From this time on, in ms since the epoch. */
  from?: number | undefined;
  /** Before this time, in ms since the epoch. */
  to?: number | undefined;
}

/** Converts an entry for the store: without user ids, and with its details cut. */
export function toKept(id: string, { userIds, details, ...entry }: AuditEntry): KeptEntry {
  const users = userIds && digestUsers(userIds);
  return { id, ...entry, details: details && (JSON.parse(JSON.stringify(details, shorten)) as typeof details), users };
}

export function toEntry({ users: _users, ...entry }: KeptEntry): ActivityEntry {
  return { ...entry, result: resultOf(entry) };
}

export function isAbout({ what, who, target, userId }: ActivityQuery, entry: KeptEntry): boolean {
  const { action, by, tenant, user, address, users } = entry;
  if (what !== undefined && action !== what && !action.startsWith(`${what}.`)) return false;
  if (who !== undefined && ![by, tenant, user, address].includes(who)) return false;
  if (target !== undefined && entry.target !== target) return false;
  return userId === undefined || (users !== undefined && isOf(users, userId));
}

function resultOf({ action, details }: Omit<KeptEntry, 'users'>): ActivityResult {
  if (action.endsWith('.refused')) return 'refused';
  return action === 'change.failed' || details?.failed !== undefined ? 'failed' : 'done';
}

function digestUsers(userIds: string[]): UserDigests {
  const key = randomBytes(16).toString('base64url');
  return { key, digests: userIds.map((userId) => digest(key, userId)).join('') };
}

/** Whether a user is one of those digested. */
function isOf({ key, digests }: UserDigests, userId: string): boolean {
  const own = digest(key, userId);
  for (let start = 0; start < digests.length; start += LENGTH) if (digests.startsWith(own, start)) return true;
  return false;
}

function digest(key: string, userId: string): string {
  return createHmac('sha256', key).update(userId).digest('base64url').slice(0, LENGTH);
}
