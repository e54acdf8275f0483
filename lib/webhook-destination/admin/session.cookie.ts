import type { IncomingMessage } from 'node:http';

import { SESSION_TIME } from './admin.tokens.js';

const NAME = 'relay_session';

/** Returns the session from a request's cookies. */
export function readSession({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}

/**
 * Returns the `Set-Cookie` header that starts or ends a session.
 *
 * @param path base path of the routes, as the browser sees it
 * @param session undefined to end the session
 */
export function toSetCookie(path: string, isSecure: boolean, session?: string): string {
  const age = session === undefined ? 0 : SESSION_TIME / 1_000;
  const flags = `Path=${path}; Max-Age=${age}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return `${NAME}=${session ?? ''}; ${flags}`;
}

/** Whether the browser's connection is encrypted, according to the socket or to the proxy. */
export function isSecure({ socket, headers }: IncomingMessage): boolean {
  const [forwarded = ''] = [headers['x-forwarded-proto'] ?? ''].flat()[0]!.split(',');
  return (socket as { encrypted?: boolean } | null)?.encrypted === true || forwarded.trim().toLowerCase() === 'https';
}
