/** Parses a `Retry-After` header, in seconds or as an HTTP date, into milliseconds since the epoch. */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
  const value: unknown = Array.isArray(header) ? header[0] : header;
  if (typeof value !== 'string') return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return now + Number(value) * 1000;
  if (!/^\s*[a-z]/i.test(value)) return undefined; // of `3600.5`, Date.parse makes the year 3600
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : date;
}
