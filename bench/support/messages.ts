/** The message that every contender forwards: a track call of about 1 KB. */
export function trackMessage(messageId: string) {
  return {
    type: 'track',
    messageId,
    userId: `user-${messageId}`,
    event: 'Order Completed',
    timestamp: '2026-01-01T00:00:00.000Z',
    properties: {
      orderId: `order-${messageId}`,
      total: 149.9,
      currency: 'EUR',
      products: Array.from({ length: 5 }, (_, index) => ({
        sku: `sku-${index}`,
        name: `Product number ${index} with a readable name`,
        price: 19.9 + index,
        quantity: 1,
      })),
    },
    context: {
      ip: '203.0.113.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36',
      page: { url: 'https://shop.example/checkout', path: '/checkout', title: 'Checkout' },
    },
  };
}

export type TrackMessage = ReturnType<typeof trackMessage>;

/** The body of its webhook. */
export function webhookBody({ type, userId, event, properties, context, timestamp }: TrackMessage): string {
  return JSON.stringify({ version: 1, type, userId, event, properties, context, timestamp });
}

export const WRITE_KEY = 'wk_bench';
export const SECRET = 'bench-secret';

/** Requests in flight to the receiver. */
export const CONCURRENCY = 64;

/** Messages in a posted batch. */
export const BATCH = 15;
