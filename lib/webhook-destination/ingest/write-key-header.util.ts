/**
 * Returns the write key of an `Authorization` header: the Basic user name, with or without the colon, or the Bearer
 * token.
 */
export function readKeyOfHeader(authorization: string | undefined): string | undefined {
  const [, scheme, credentials] = /^(basic|bearer)\s+(\S+)\s*$/i.exec(authorization ?? '') ?? [];
  if (!scheme || !credentials) return undefined;
  if (scheme.toLowerCase() === 'bearer') return credentials;
  return Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0] || undefined;
}
