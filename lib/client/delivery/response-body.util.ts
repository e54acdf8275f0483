import type { HTTPResponse } from './http-client.interface.js';

/** Maximum number of bytes of a response body that are read. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** Members of a `fetch` response that other HTTP clients may lack. */
interface StreamedResponse {
  bodyUsed?: boolean;
  body?: { getReader?: () => StreamReader } | null;
}

/** The part of a web stream that is used. Some fetch implementations have no web streams. */
interface StreamReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<unknown>;
}

/**
 * Reads a response's body, so that its connection can be reused. Reading a web stream stops after
 * {@link MAX_RESPONSE_BYTES}. A body that the HTTP client has already read counts as empty.
 */
export async function readBody(response: HTTPResponse): Promise<string> {
  const { body, bodyUsed } = response as StreamedResponse;
  if (bodyUsed) return '';
  if (typeof body?.getReader !== 'function') return (await response.text?.()) ?? '';
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) break;
    chunks.push(value);
    bytes += value.byteLength;
    if (bytes < MAX_RESPONSE_BYTES) continue;
    await reader.cancel();
    break;
  }
  return Buffer.concat(chunks).toString();
}
