import type { ClientTelemetry } from '../telemetry/client-telemetry.interface.js';
import type { HTTPClient } from './http-client.interface.js';

/** Settings for when and where waiting events are sent, and how often a batch is retried. */
export interface DeliverySettings {
  maxEventsInBatch: number;
  flushInterval: number;
  maxRetries: number;
  httpRequestTimeout: number;
  url: string;
  /** Whether the setting `host` is absent. */
  isDefaultHost: boolean;
  httpClient: HTTPClient;
  telemetry: ClientTelemetry | undefined;
}
