import type { NewDelivery } from 'nestjs-analytics-relay';

/** A delivery to `Webhooks`, as a queue is given it. */
export const newDelivery = (messageId: string): NewDelivery => ({
  destination: 'Webhooks',
  source: 'shop',
  messageId,
  userId: undefined,
  body: Buffer.from('{}'),
  acceptedAt: Date.now(),
});
