import { isPlainObject } from '../../client/message/message.rules.js';

/** The write key of a request: the Basic user name, the Bearer token, or `writeKey` in the body. */
export function readWriteKey(authorization: string | undefined, body: unknown): string | undefined {
  const [, scheme, credentials] = /^(basic|bearer)\s+(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  if (scheme && credentials) {
    if (scheme.toLowerCase() === 'bearer') return credentials;
    return Buffer.from(credentials, 'base64').toString('utf8').split(':')[0];
  }
  const key = isPlainObject(body) ? body.writeKey : undefined;
  return typeof key === 'string' ? key : undefined;
}
