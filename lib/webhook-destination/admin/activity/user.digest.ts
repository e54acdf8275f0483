import { createHmac, randomBytes } from 'node:crypto';

/** Digests of users, from which their ids cannot be read. */
export interface UserDigests {
  /** Random key of these digests: those of one user in two entries differ. */
  key: string;
  /** All digests in a row, each of {@link LENGTH} characters. */
  digests: string;
}

/** Length of a digest in characters: 132 bits. */
const LENGTH = 22;

export function digestUsers(userIds: string[]): UserDigests {
  const key = randomBytes(16).toString('base64url');
  return { key, digests: userIds.map((userId) => digest(key, userId)).join('') };
}

/** Whether a user is one of those digested. */
export function isOf({ key, digests }: UserDigests, userId: string): boolean {
  const own = digest(key, userId);
  for (let start = 0; start < digests.length; start += LENGTH) if (digests.startsWith(own, start)) return true;
  return false;
}

function digest(key: string, userId: string): string {
  return createHmac('sha256', key).update(userId).digest('base64url').slice(0, LENGTH);
}
