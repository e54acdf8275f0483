import { createHmac } from 'node:crypto';

import { type Dispatcher, Pool } from 'undici';

import { Counter } from './counter.js';
import { CONCURRENCY, SECRET, type TrackMessage, webhookBody } from './messages.js';

interface Webhook {
  messageId: string;
  body: string;
}

/** Posts at a bounded concurrency. */
export class Poster {
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

  private async send(webhook: Webhook): Promise<void> {
    await postWebhook(this.pool, this.path, webhook);
    this.inFlight--;
    this.delivered.increment();
    this.pump();
  }
}

export function toWebhook(message: TrackMessage): Webhook {
  return { messageId: message.messageId, body: webhookBody(message) };
}

/** Posts a signed webhook. Rejects if the receiver does not take it. */
export async function postWebhook(connections: Dispatcher, path: string, { messageId, body }: Webhook): Promise<void> {
  const response = await connections.request({
    path,
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
}
