import type { ClientTelemetry } from '../telemetry/client-telemetry.interface.js';
import type { HTTPClient } from './http-client.interface.js';

/** When waiting events are sent, where to, and how often a batch is tried. */
export interface DeliverySettings {
  maxEventsInBatch: number;
  flushInterval: number;
  maxRetries: number;
  httpRequestTimeout: number;
  url: string;
  httpClient: HTTPClient;
  telemetry: ClientTelemetry | undefined;
}
