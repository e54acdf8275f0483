import type { AdminCaller } from './admin.caller.js';
import type { AuditEntry } from './audit.log.js';
import type { DeletionRequest } from './deletion-request.js';
import type { DeletionResult } from './user-deletion.js';

/** Maximum number of users named in an entry. */
const MAX_NAMED = 10;

/** Returns the audit entry of a completed deletion. */
export function toDeletionEntry(
  { by, user }: AdminCaller,
  address: string,
  request: unknown,
  result: DeletionResult,
): Omit<AuditEntry, 'at'> {
  const { userId, userIds = [], sources } = request as DeletionRequest;
  const users = userId === undefined ? userIds : [userId, ...userIds];
  const [target] = users;
  const details = { users: users.length, userIds: users.slice(0, MAX_NAMED), sources, ...result };
  return { action: 'user.delete', by, user, address, target, details };
}
