/** Code of an error, such as `ECONNREFUSED` or `webhook_timeout`. */
const CODE = /^\w{1,64}$/;

/**
 * The attribute `error.type` of a request: a status that no receiver gives who takes a webhook, the code of an error, or
 * `_OTHER`; undefined of a request that succeeded.
 */
export function errorTypeOf(status: number | undefined, error?: unknown): string | undefined {
  if (status !== undefined) return status >= 200 && status < 300 ? undefined : String(status);
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && CODE.test(code) ? code : '_OTHER';
}
