import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What Node's parser says of a request that is not valid HTTP. */
export interface BrokenRequest extends Error {
  code?: string;
  reason?: string;
  /** What came last; with the request line, where it was the head that could not be read. */
  rawPacket?: Buffer;
}

const STATUSES: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const FIELDS: Record<string, string> = {
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'Content-Length',
  HPE_INVALID_TRANSFER_ENCODING: 'Transfer-Encoding',
  HPE_HEADER_OVERFLOW: 'headers',
};

/** The answer that is under way on a connection. */
export function openResponse(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Method and path of a request whose head could not be read. */
export function requestLine({ rawPacket }: BrokenRequest): { method?: string; url?: string } {
  const [method, url] = rawPacket?.toString('latin1', 0, 512).split(' ', 2) ?? [];
  return { method, url };
}

/** Refuses as the endpoint does, with JSON that names the field and the rule, and ends the connection. */
export function refuseBroken(error: BrokenRequest, socket: Socket): void {
  const response = openResponse(socket);
  if (response?.req.complete) {
    // It is what came behind that is broken.
    response.shouldKeepAlive = false;
    return;
  }
  const body = JSON.stringify({
    code: 'http_invalid',
    message: `the request must be valid HTTP: ${error.reason ?? error.message}`,
    field: FIELDS[error.code ?? ''] ?? (response ? 'body' : 'request'),
  });
  answer(socket, error, `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\n`, body);
  socket.destroySoon();
}

/** Does what Node does where nobody listens, which it does not tell in another way. */
export function refuseAsNode(error: BrokenRequest, socket: Socket): void {
  answer(socket, error);
  socket.destroy(error);
}

function answer(socket: Socket, { code = '' }: BrokenRequest, headers = '', body = ''): void {
  if (!socket.writable || openResponse(socket)?.headersSent) return;
  socket.write(`HTTP/1.1 ${STATUSES[code] ?? '400 Bad Request'}\r\nConnection: close\r\n${headers}\r\n${body}`);
}
