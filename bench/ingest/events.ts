/** Which requests are measured. */
export type Shape = 'batch' | 'single';

/** Events in a posted batch. */
export const BATCH = 15;
export const WRITE_KEY = 'wk_bench';

/** An event of 600 bytes, as SDKs send it: with names that are not ASCII, and prices with cents. */
function event(id: number) {
  return {
    type: 'track',
    messageId: `node-next-1795260808716-${String(id).padStart(12, '0')}`,
    userId: `user-${String(id % 1_000).padStart(4, '0')}`,
    event: 'Order Completed',
    timestamp: '2026-01-01T00:00:00.000Z',
    properties: {
      orderId: `order-${String(id).padStart(12, '0')}`,
      total: 122.48,
      currency: 'EUR',
      products: [
        { sku: 'sku-1', name: 'Hängematte, Größe M', price: 119.99, quantity: 1 },
        { sku: 'sku-2', name: 'Crème fraîche à 30 %', price: 2.49, quantity: 1 },
      ],
    },
    context: {
      ip: '203.0.113.7',
      library: { name: '@segment/analytics-node', version: '3.1.0' },
      page: { url: 'https://shop.example/checkout', path: '/checkout' },
    },
    integrations: {},
    _metadata: { nodeVersion: '20.20.2' },
  };
}

/** The path and the bodies of requests, each event with an id of its own. */
export function requestsOf(shape: Shape, count: number, first: number): { path: string; bodies: string[] } {
  if (shape === 'single') {
    return { path: '/v1/track', bodies: Array.from({ length: count }, (_, i) => JSON.stringify(event(first + i))) };
  }
  const batch = (start: number) => Array.from({ length: BATCH }, (_, i) => event(start + i));
  return {
    path: '/v1/batch',
    bodies: Array.from({ length: count }, (_, i) =>
      JSON.stringify({ batch: batch(first + i * BATCH), writeKey: WRITE_KEY, sentAt: '2026-01-01T00:00:00.500Z' }),
    ),
  };
}
