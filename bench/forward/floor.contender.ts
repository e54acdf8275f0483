import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Pool } from 'undici';

import { type Contender, Counter } from './contender.js';
import { CONCURRENCY, SECRET, type TrackMessage, webhookBody } from './messages.js';

interface Webhook {
  messageId: string;
  body: string;
}

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

/** Posts at a bounded concurrency. */
class Poster {
  readonly delivered = new Counter();
  private readonly path: string;
  private readonly pool: Pool;
  private readonly waiting: Webhook[] = [];
  private next = 0;
  private inFlight = 0;

  constructor(receiver: string) {
    const { origin, pathname } = new URL(receiver);
    this.path = pathname;
    this.pool = new Pool(origin, { connections: CONCURRENCY });
  }

  post(webhooks: Webhook[]): void {
    for (const webhook of webhooks) this.waiting.push(webhook);
    this.pump();
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  private pump(): void {
    while (this.inFlight < CONCURRENCY && this.next < this.waiting.length) {
      this.inFlight++;
      void this.send(this.waiting[this.next++]!);
    }
  }

  private async send({ messageId, body }: Webhook): Promise<void> {
    const response = await this.pool.request({
      path: this.path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'floor/1.0',
        'x-message-id': messageId,
        'x-signature': createHmac('sha1', SECRET).update(body).digest('hex'),
      },
      body,
    });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    this.inFlight--;
    this.delivered.increment();
    this.pump();
  }
}

function toWebhook(message: TrackMessage): Webhook {
  return { messageId: message.messageId, body: webhookBody(message) };
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
  });
}
