/** Value of `messaging.system` in spans and metrics. */
export const SYSTEM = 'nestjs_analytics_relay';

/** Value of `error.type` for errors without a code of their own. */
export const OTHER_ERROR = '_OTHER';

/** Code of an error, such as `ECONNREFUSED` or `webhook_timeout`. */
const CODE = /^\w{1,64}$/;

/**
 * Returns the attribute `error.type` of a request: a status other than 2xx, the code of an error, or {@link OTHER_ERROR};
 * undefined if the request succeeded.
 */
export function errorTypeOf(status: number | undefined, error?: unknown): string | undefined {
  if (status !== undefined) return status >= 200 && status < 300 ? undefined : String(status);
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && CODE.test(code) ? code : OTHER_ERROR;
}

/** Returns host and port of a valid http or https URL, as `server.address` and `server.port` name them. */
export function serverOf(url: string): { address: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  return { address: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}

/** Returns the number of deliveries to each destination. */
export function countByDestination(deliveries: readonly { destination: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { destination } of deliveries) counts.set(destination, (counts.get(destination) ?? 0) + 1);
  return counts;
}
