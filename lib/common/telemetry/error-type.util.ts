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
