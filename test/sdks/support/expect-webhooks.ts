import { verifySignature } from 'nestjs-analytics-relay';
import { expect } from 'vitest';

import type { Receiver } from '../../support/receiver.js';

/** What the receiver's webhooks are signed with. */
export const SHARED_SECRET = 'shh';

/** ISO 8601 in UTC with milliseconds. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

type Body = Record<string, unknown>;

/**
 * Waits for these webhooks, in whatever order, and no others: each with the common fields and nothing that is
 * not named here, each signed, each with a message id of its own.
 */
export async function expectWebhooks(receiver: Receiver, bodies: Body[]): Promise<void> {
  const webhooks = await receiver.received(bodies.length);
  const byType = (a: Body, b: Body) => String(a.type).localeCompare(String(b.type));
  const common = { version: 1, timestamp: expect.stringMatching(TIMESTAMP) };
  expect(webhooks.map(({ body }) => body).sort(byType)).toEqual(
    bodies.map((body) => ({ ...common, ...body })).sort(byType),
  );
  for (const { method, headers, raw } of webhooks) {
    expect(method).toBe('POST');
    expect(headers['content-type']).toBe('application/json');
    expect(verifySignature(raw, headers['x-signature'] as string, SHARED_SECRET)).toBe(true);
  }
  expect(new Set(webhooks.map(({ headers }) => headers['x-message-id'])).size).toBe(bodies.length);
}
