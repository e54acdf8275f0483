// A collection endpoint that counts what it gets.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ids = new Set<string>();
let events = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { batch } = JSON.parse(Buffer.concat(chunks).toString()) as { batch: { messageId: string }[] };
    for (const { messageId } of batch) ids.add(messageId);
    events += batch.length;
    response.end('{"success":true}');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send!({ host: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});

process.on('message', () => {
  process.send!({ events, unique: ids.size });
  ids.clear();
  events = 0;
});
process.once('disconnect', () => process.exit());
