import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

import type { TrackMessage } from '../../support/messages.js';
import { Poster, toWebhook } from '../../support/poster.js';
import type { Peer } from './peer.js';

/** The least that can be done: bare `node:http` and pooled undici, the same signature, nothing kept. */
export const floor: Peer = {
  async start({ receiver }) {
    const poster = new Poster(receiver);
    const server = createServer((request, response) => {
      void json(request).then((body) => {
        poster.post((body as { batch: TrackMessage[] }).batch.map(toWebhook));
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"success":true}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  },
};
