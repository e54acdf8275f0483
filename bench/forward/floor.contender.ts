import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { TrackMessage } from '../support/messages.js';
import { Poster, toWebhook } from '../support/poster.js';
import type { Contender } from './contender.js';

/** The least that can be done: bare `node:http` and pooled undici, the same signature, nothing kept. */
export const floor: Contender = {
  queue(messages, receiver) {
    const webhooks = messages.map(toWebhook);
    const poster = new Poster(receiver);
    return Promise.resolve({
      start: () => {
        poster.post(webhooks);
        return poster.delivered.reached(webhooks.length);
      },
      close: () => poster.close(),
    });
  },

  async serve(receiver) {
    const poster = new Poster(receiver);
    const server = createServer((request, response) => {
      void readBody(request).then((body) => {
        const { batch } = JSON.parse(body) as { batch: TrackMessage[] };
        poster.post(batch.map(toWebhook));
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"success":true}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      delivered: poster.delivered.reached,
      close: async () => {
        server.close();
        await poster.close();
      },
    };
  },
};

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
  });
}
