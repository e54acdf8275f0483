import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { SESSION_TIME } from '../queue/registry-store.interface.js';

const NAME = 'relay_session';

/** A `__Host-` cookie, which no other host can set, must have the path `/`. Its name tells relays of a host apart. */
const HOST_NAME = `__Host-${NAME}`;
const HOST_NAMES = new RegExp(`^${HOST_NAME}(-[\\w-]{8})?$`);

/** Base path of a relay that no proxy has moved. */
const OWN_BASE = '/relay';

/** An id as `AdminSessions` makes them. */
const ID = /^[\w-]{43}$/;

/**
 * Returns the ids of sessions in a request's cookies: another path or host may have set more than one. Over TLS, only
 * cookies that were set over TLS count.
 */
export function readSessionIds(request: IncomingMessage): string[] {
  const isTls = isSecure(request);
  const isOurs = (name: string) => (isTls ? HOST_NAMES.test(name) : name === NAME);
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return pairs.flatMap(([name, id = '']) => (isOurs(name!) && ID.test(id) ? [id] : []));
}

/**
 * Returns the `Set-Cookie` header that starts or ends a session.
 *
 * @param base base path of the routes, as the browser sees it
 * @param id undefined to end the session
 */
export function toSetCookie(request: IncomingMessage, base: string, id?: string): string {
  const isTls = isSecure(request);
  const name = !isTls ? NAME : base === OWN_BASE ? HOST_NAME : `${HOST_NAME}-${shortHash(base)}`;
  const path = isTls ? '/' : base;
  const age = id === undefined ? 0 : SESSION_TIME / 1_000;
  return `${name}=${id ?? ''}; Path=${path}; Max-Age=${age}; HttpOnly; SameSite=Strict${isTls ? '; Secure' : ''}`;
}

function shortHash(base: string): string {
  return createHash('sha256').update(base).digest('base64url').slice(0, 8);
}

/** Whether the browser's connection is encrypted, according to the socket or to the proxy. */
function isSecure({ socket, headers }: IncomingMessage): boolean {
  const [forwarded = ''] = [headers['x-forwarded-proto'] ?? ''].flat()[0]!.split(',');
  return (socket as { encrypted?: boolean } | null)?.encrypted === true || forwarded.trim().toLowerCase() === 'https';
}
