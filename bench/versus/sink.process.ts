// A collection service: counts each event by its id, and answers 503 instead for as long as it is told to.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export type SinkOrder = 'count' | 'refuse' | 'accept';

export interface SinkReport {
  events: number;
  unique: number;
}

interface Batch {
  batch: { messageId?: string; uuid?: string }[];
}

const ids = new Set<string | undefined>();
let events = 0;
let refuses = false;

const server = createServer((request, response) => {
  void json(request).then((body) => {
    if (refuses) {
      response.writeHead(503).end();
      return;
    }
    for (const { messageId, uuid } of (body as Batch).batch) {
      events++;
      ids.add(messageId ?? uuid);
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"success":true}');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () =>
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
);
process.on('message', (order: SinkOrder) => {
  if (order === 'count') process.send!({ events, unique: ids.size } satisfies SinkReport);
  else refuses = order === 'refuse';
});
