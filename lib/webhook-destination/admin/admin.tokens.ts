import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import type { AdminCaller, AdminTokensOptions } from './admin.options.js';
import { namedTokens } from './token.rules.js';

/** What the holder of a token may do. */
export interface TokenRole extends Pick<AdminCaller, 'access' | 'user'> {
  digest: Buffer;
}

/** Checks tokens, and the ties between sessions and tokens. */
export class AdminTokens {
  readonly #roles: TokenRole[];

  constructor(options: AdminTokensOptions) {
    this.#roles = namedTokens(options).map(({ token, access, name }) => ({
      access,
      user: name,
      digest: createHash('sha256').update(token).digest(),
    }));
  }

  /** Returns the role of a token; undefined for a wrong one. Compares digests, so the time taken reveals nothing. */
  find(token: string): TokenRole | undefined {
    const digest = createHash('sha256').update(token).digest();
    return this.#roles.find((role) => timingSafeEqual(role.digest, digest));
  }

  /** Returns the role whose token a session was started with; undefined once the token has changed. */
  findTied(id: string, tie: string): TokenRole | undefined {
    const given = Buffer.from(tie, 'base64url');
    return this.#roles.find((role) => {
      const own = tieOf(id, role);
      return own.length === given.length && timingSafeEqual(own, given);
    });
  }
}

/** Returns the name of a token, or its access if it has none. */
export function holderOf({ user, access }: TokenRole): string {
  return user ?? access;
}

/**
 * Returns what ties a session to a token. Only the browser has the id, which is the key: who reads the store cannot try
 * tokens with it, and who writes to the store cannot make a session.
 */
export function tieOf(id: string, { digest }: TokenRole): Buffer {
  return createHmac('sha256', id).update(digest).digest();
}
