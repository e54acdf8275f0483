// A receiver: checks each webhook's signature, and that each messageId comes once.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { SECRET } from './messages.js';

/** What a receiver got. */
export interface ReceiverReport {
  messages: number;
  repeated: number;
  badSignatures: number;
  /** The id of each message, if the order has `ids`. */
  ids?: string[];
}

const seen = new Set<string>();
const report = { repeated: 0, badSignatures: 0 };

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const signature = createHmac('sha1', SECRET).update(Buffer.concat(chunks)).digest('hex');
    if (signature !== request.headers['x-signature']) report.badSignatures++;
    const messageId = String(request.headers['x-message-id']);
    if (seen.has(messageId)) report.repeated++;
    seen.add(messageId);
    response.writeHead(200).end();
  });
});
server.keepAliveTimeout = 60_000;
// An address may be given, such as that of all interfaces.
server.listen(0, process.argv[2] ?? '127.0.0.1', () =>
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }),
);
process.on('message', ({ ids }: { ids?: boolean }) => {
  process.send!({ messages: seen.size, ...report, ...(ids && { ids: [...seen] }) } satisfies ReceiverReport);
});
