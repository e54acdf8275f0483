/** Scheme and authority, which a request's target may begin with (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** Returns the path and query of a request's target. */
export function withoutOrigin(target = ''): string {
  return target.startsWith('/') ? target : target.replace(ORIGIN, '');
}

/** Returns the path of a request's target. */
export function pathOf(target: string | undefined): string {
  const whole = withoutOrigin(target);
  const query = whole.indexOf('?');
  return query < 0 ? whole : whole.slice(0, query);
}

/** Replaces repeated slashes of a path, which SDKs send if a host with a slash at its end is configured. */
export function singleSlashes(path: string): string {
  return path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
}
