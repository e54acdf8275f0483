import { createHmac } from 'node:crypto';

import { HttpService } from '@nestjs/axios';
import { firstValueFrom } from 'rxjs';
import { Pool } from 'undici';

import { CONCURRENCY, SECRET, type TrackMessage, webhookBody } from '../../support/messages.js';
import { postWebhook, toWebhook } from '../../support/poster.js';

/** Posts the signed webhook of a message; rejects if the receiver does not take it. */
export type SignedPost = (message: TrackMessage) => Promise<void>;

/** By undici, which costs the least. */
export function undiciPost(receiver: string): SignedPost {
  const { origin, pathname } = new URL(receiver);
  const pool = new Pool(origin, { connections: CONCURRENCY });
  return (message) => postWebhook(pool, pathname, toWebhook(message));
}

/** By Nest's `HttpService`, which is axios. Since Node 19, its connections are kept alive. */
export function axiosPost(receiver: string): SignedPost {
  const http = new HttpService();
  return async (message) => {
    const body = webhookBody(message);
    const signature = createHmac('sha1', SECRET).update(body).digest('hex');
    await firstValueFrom(
      http.post(receiver, body, {
        headers: { 'Content-Type': 'application/json', 'X-Message-Id': message.messageId, 'X-Signature': signature },
      }),
    );
  };
}
