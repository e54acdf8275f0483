/** Clients, each of which sends its next batch once the one before is delivered. */
export const CLIENTS = 64;

/** Most connections to receivers: the default of `delivery.maxSockets`. */
export const MAX_SOCKETS = 1_024;

/** How many messages are accepted; `prefix` makes their ids. */
export interface ManyOrder {
  prefix: string;
  messages: number;
  /** Time from one batch to the next, in ms; without it, a client sends its next batch once the one before is delivered. */
  interval?: number;
}

/** What the start took, in ms, and memory in use after it, in bytes. */
export interface ManyStart {
  /** From the start of the process until the application has started. */
  elapsed: number;
  /** CPU of the same. */
  cpu: number;
  /** The part of `elapsed` without loading modules. */
  application: number;
  memory: number;
}

/** What the deliveries took: CPU of all threads, in ms; and what was left after them. */
export interface ManyCost {
  cpu: number;
  elapsed: number;
  memory: number;
  /** Most sockets opened since the start, later ones to a store included. */
  sockets: number;
  /** From the acceptance of a message to its answered webhook, in ms. */
  p99: number;
}
