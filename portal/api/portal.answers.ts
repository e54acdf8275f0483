/** Answer of `GET session`. Times are in ms since the epoch. */
export interface Session {
  tenant: string;
  access: 'read' | 'write';
  person?: string;
  expiresAt: number;
  returnUrl?: string;
  brand?: Brand;
  limits: { endpoints: number };
}

export interface Brand {
  name: string;
  /** URL of an image. */
  logo?: string;
  /** A colour such as `#4656d6`. */
  accent?: string;
}

export type SignatureKind = 'v1' | 'v1a';

export interface Endpoint {
  id: string;
  url: string;
  description?: string;
  /** Null for all events. */
  events: string[] | null;
  state: 'active' | 'failing' | 'paused' | 'disabled';
  failingSince?: number;
  disabled?: { since: number; reason: 'failing' | 'gone' | 'asked' | 'paused' };
  signature: SignatureKind | 'none';
  publicKey?: string;
  previousSecretUntil?: number;
  createdAt?: number;
}

/** Answer of `GET endpoints/:id`. */
export interface EndpointDetails extends Endpoint {
  counts: { waiting: number; delivered: number; dead: number };
}

/** Answer of `GET endpoints/:id/secret`. */
export interface Secrets {
  secret?: string;
  previous?: string;
  previousSecretUntil?: number;
  publicKey?: string;
}

export interface Attempt {
  at: number;
  outcome: 'success' | 'temporary' | 'permanent';
  status?: number;
  error?: 'unreachable' | 'timeout' | 'certificate';
  /** In ms. */
  duration: number;
  answer?: { type?: string; text?: string; bytes: number };
}

export type DeliveryState = 'waiting' | 'active' | 'delivered' | 'dead';

interface DeliveryFields {
  id: string;
  /** Id of the endpoint. */
  endpoint: string;
  messageId: string;
  type?: string;
  event?: string;
  state: DeliveryState;
  acceptedAt: number;
  nextAttemptAt?: number;
  reason?: string;
}

/** A delivery in a list. */
export interface DeliverySummary extends DeliveryFields {
  attempts: number;
  lastAttempt?: Attempt;
}

/** Answer of `GET deliveries/:id`. */
export interface Delivery extends DeliveryFields {
  attempts: Attempt[];
  /** The JSON text that is sent. */
  body?: string;
  givesUpAt?: number;
}

export interface CatalogueEvent {
  name: string;
  description?: string;
  /** JSON Schema of its properties. */
  schema?: object;
  /** Body of a message, as it is sent. */
  example?: object;
}
