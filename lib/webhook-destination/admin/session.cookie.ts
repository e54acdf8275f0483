import type { IncomingMessage } from 'node:http';

import { SESSION_TIME } from './admin.tokens.js';

const NAME = 'relay_session';

/** The session that a request's cookies name. */
export function readSession({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}

/**
 * The `Set-Cookie` of a session, or of its end.
 *
 * @param path the base of the routes, as the browser sees it
 * @param session undefined ends it
 */
export function toSetCookie(path: string, isSecure: boolean, session?: string): string {
  const age = session === undefined ? 0 : SESSION_TIME / 1_000;
  const flags = `Path=${path}; Max-Age=${age}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return `${NAME}=${session ?? ''}; ${flags}`;
}

/** Whether the browser's connection is encrypted, by the socket, or as the proxy says it. */
export function isSecure({ socket, headers }: IncomingMessage): boolean {
  const [forwarded = ''] = [headers['x-forwarded-proto'] ?? ''].flat()[0]!.split(',');
  return (socket as { encrypted?: boolean } | null)?.encrypted === true || forwarded.trim().toLowerCase() === 'https';
}
