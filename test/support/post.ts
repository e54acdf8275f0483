/** POSTs JSON with the write key as Basic user name, as SDKs do. */
export function post(url: string, body: unknown, writeKey = 'wk_shop'): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`,
      'Content-Type': 'application/json',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
