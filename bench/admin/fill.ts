import { setTimeout as sleep } from 'node:timers/promises';

import { sqliteQueue } from 'nestjs-analytics-relay';

import { trackMessage, webhookBody } from '../support/messages.js';

/** One in so many deliveries is dead, and one is an event of its own. */
export const DEAD_EVERY = 50;
export const RARE_EVERY = 100_000;

/** Deliveries that are added at once. */
const GROUP = 1_000;

/** Deliveries that are open at once, at most. */
const MAX_OPEN = 20_000;

/** Fills a file with deliveries, most of them delivered at the first attempt; `batch` of them are accepted at a time. */
export async function fill(path: string, count: number, batch: number): Promise<void> {
  const queue = sqliteQueue({ path, retention: { delivered: { count }, dead: { count } } })();
  await queue.open();
  let settled = 0;
  const subscription = queue.consume('Webhooks', 2_048).subscribe((lease) => {
    const number = Number(lease.delivery.messageId.slice(1));
    const isDead = number % DEAD_EVERY === 0;
    const status = isDead ? 404 : 200;
    const outcome = isDead ? ('permanent' as const) : ('success' as const);
    const attempt = {
      startedAt: Date.now(),
      results: [{ url: 'https://receiver.example/hook', outcome, status, duration: 12 }],
    };
    void lease
      .settle(
        isDead
          ? { state: 'dead', attempt, reason: 'every URL failed permanently', failedUrls: [] }
          : { state: 'delivered', attempt },
      )
      .then(() => settled++);
  });
  const add = async (start: number) => {
    const deliveries = Array.from({ length: Math.min(batch, count - start) }, (_, index) => {
      const number = start + index;
      const event = number % RARE_EVERY === 0 ? 'Order Refunded' : 'Order Completed';
      const message = { ...trackMessage(`m${number}`), userId: `u${number % 10_000}`, event };
      return {
        destination: 'Webhooks',
        source: 'shop',
        messageId: `m${number}`,
        userId: message.userId,
        body: Buffer.from(webhookBody(message)),
        acceptedAt: queue.now(),
      };
    });
    await queue.add(deliveries);
  };
  const together = Math.max(batch, GROUP);
  for (let start = 0; start < count; start += together) {
    const starts = Array.from({ length: Math.ceil(together / batch) }, (_, index) => start + index * batch);
    await Promise.all(starts.filter((first) => first < count).map(add));
    while (start + together - settled > MAX_OPEN) await sleep(5);
    if (start % 100_000 < together) console.error(`${start} of ${count}`);
  }
  while (settled < count) await sleep(20);
  subscription.unsubscribe();
  await queue.close();
}
