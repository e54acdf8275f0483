import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

import type { AdminAccess, AdminCaller, AdminTokenOptions } from './admin.options.js';

/** Lifetime of a session, in ms: 12 h. */
export const SESSION_TIME = 12 * 60 * 60 * 1_000;

/** Random bytes that make each session unique. */
const NONCE_BYTES = 12;

interface Role {
  access: AdminAccess;
  digest: Buffer;
  /** Key that signs the sessions of this token, so they end when the token changes. */
  key: Buffer;
}

/** Checks the configured tokens and the sessions signed for them. Sessions are stateless: the relay stores nothing. */
export class AdminTokens {
  readonly #roles: Role[];

  constructor({ token, readToken }: AdminTokenOptions) {
    this.#roles = [toRole('write', token), ...(readToken === undefined ? [] : [toRole('read', readToken)])];
  }

  /** Returns the access of a token; undefined for a wrong one. Compares digests, so the time taken reveals nothing. */
  find(token: string): AdminCaller | undefined {
    const digest = sha256(token);
    const role = this.#roles.find((candidate) => timingSafeEqual(candidate.digest, digest));
    return role && { access: role.access, by: 'token' };
  }

  /** Returns a new signed session with the caller's access. */
  sign({ access }: AdminCaller, now: number): string {
    const role = this.#roles.find((candidate) => candidate.access === access)!;
    const claims = `${access}.${now + SESSION_TIME}.${randomBytes(NONCE_BYTES).toString('base64url')}`;
    return `${claims}.${macOf(claims, role)}`;
  }

  /** Returns the access of a session; undefined if the session is forged or expired. */
  verify(session: string, now: number): AdminCaller | undefined {
    const [, claims = '', access, until, mac = ''] =
      /^((read|write)\.(\d{1,16})\.[\w-]+)\.([\w-]+)$/.exec(session) ?? [];
    const role = this.#roles.find((candidate) => candidate.access === access);
    if (!role || !timingSafeEqual(sha256(mac), sha256(macOf(claims, role))) || Number(until) <= now) return undefined;
    return { access: role.access, by: 'session' };
  }
}

function toRole(access: AdminAccess, token: string): Role {
  return { access, digest: sha256(token), key: createHmac('sha256', token).update(`session ${access}`).digest() };
}

function macOf(claims: string, { key }: Role): string {
  return createHmac('sha256', key).update(claims).digest('base64url');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
