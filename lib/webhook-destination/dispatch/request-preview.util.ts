import type { Delivery } from '../queue/delivery.interface.js';
import { bodyToSend } from './body-transform.js';
import type { DestinationOptions } from './destination.options.js';
import { WebhookHeaders } from './webhook-headers.js';
import { toWebhookTarget } from '../transport/webhook-target.js';

/** Replaces a secret. */
export const MASK = '***';

/** Headers whose values are shown. Signatures are not: a caller who may preview any body could have it signed. */
const SHOWN = ['content-type', 'user-agent', 'x-message-id', 'webhook-id', 'webhook-timestamp'];

export function isShownHeader(name: string): boolean {
  return SHOWN.includes(name.toLowerCase());
}

/** The request that a delivery would make. */
export interface RequestPreview {
  /** The URLs, without user info, query and tokens in their path. */
  urls: string[];
  /** Header values; those that are or may be secret are `***`. */
  headers: Record<string, string>;
  /** The JSON that the destination's `transform` makes. Without a `transform`, the body of the delivery would be sent. */
  body?: string;
  /** Why nothing would be sent. */
  note?: string;
}

/** Returns the request that a delivery would make now, without sending it. */
export function previewRequest(destination: DestinationOptions, delivery: Delivery, now: number): RequestPreview {
  const targets = destination.urls.map(toWebhookTarget);
  const body = bodyToSend(destination.transform, delivery, now);
  const urls = targets.map(({ shown }) => shown);
  if (!Buffer.isBuffer(body)) {
    const note = body.state === 'dead' ? body.reason : 'transform sends nothing';
    return { urls, headers: {}, note };
  }
  const all = new WebhookHeaders(destination).for(delivery, undefined, now);
  if (targets.some(({ authorization }) => authorization !== undefined)) all.Authorization = MASK;
  const headers = Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, isShownHeader(name) ? value : MASK]),
  );
  return { urls, headers, ...(destination.transform && { body: body.toString() }) };
}
