import type { InjectionToken } from '@nestjs/common';

import type { WebhookTransport } from './webhook-transport.interface.js';

/**
 * How requests go out: over the relay's connections, alone (`'undici'`) or with axios around them (`'axios'`, an
 * `HttpService` of its own, or the application's, by its token), or by what the application makes of them.
 */
export type TransportOption = 'undici' | 'axios' | { axios: InjectionToken } | WebhookTransport;

/** Whether a transport is the application's; an `HttpService`, which posts otherwise, is not one. */
export function isWebhookTransport(value: unknown): value is WebhookTransport {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<WebhookTransport>).post === 'function' &&
    !('axiosRef' in value)
  );
}

/** Whether a value is one of the four. */
export function isTransport(value: unknown): value is TransportOption {
  if (value === 'undici' || value === 'axios' || isWebhookTransport(value)) return true;
  const token = (value as { axios?: unknown } | null | undefined)?.axios;
  return ['string', 'symbol', 'function'].includes(typeof token) && token !== '';
}
