import type { MessageFault } from '../../client/message/message.rules.js';
import type { NewDelivery } from '../queue/delivery.interface.js';
import type { AcceptedMessage } from './accepted-message.js';
import type { PostedMessage } from './posted-message.interface.js';
import type { Sender } from './sender.js';

/** A message that was not accepted, and why. */
export interface RejectedMessage extends MessageFault {
  /** Index among the posted messages, from 0. */
  index: number;
}

/** Result for messages posted together. Accepted messages are stored durably in the queue. */
export interface AcceptResult {
  /** Number of accepted messages. Repeated ones, which the queue skips, are among them. */
  accepted: number;
  /** All messages that were not accepted. The answer to an HTTP request explains the first 100. */
  rejected: RejectedMessage[];
}

/** A message that was not accepted, and the rule that it breaks. */
export interface RefusedMessage {
  posted: PostedMessage;
  fault: MessageFault;
}

/** Messages of one request, once the valid ones are in the queue. A large request has several acceptances. */
export interface Acceptance {
  source: string;
  /** The stored deliveries. */
  deliveries: NewDelivery[];
  /** Deliveries that are not sent again, because their message is remembered. */
  repeated: NewDelivery[];
  /** The messages that are now stored for all their destinations; their deliveries may be in earlier acceptances. */
  messages: AcceptedMessage[];
  /** Messages that have destinations, and are not sent again to any of them. */
  duplicates: AcceptedMessage[];
  rejected: RejectedMessage[];
  /** The rejected messages themselves. */
  refused: RefusedMessage[];
  sender?: Sender | undefined;
  /** When the sender posted them, by its own clock. */
  sentAt?: unknown;
  /** Returns the names of the destinations of a message: those that it is sent to, and those it is not sent again to. */
  destinationsOf: (message: AcceptedMessage) => { destinations: string[]; repeated: string[] };
}

/** A request that was refused as a whole. */
export interface Refusal {
  /** Name of the source with the request's key; undefined if there is none. */
  source?: string | undefined;
  /** Code of the rule that the request broke. */
  code: string;
  field?: string | undefined;
  /** The rule. */
  message: string;
  /** Status of the answer. */
  status: number;
  sender?: Sender | undefined;
  /** Last part of the path it was posted to. */
  route?: string | undefined;
  /** Returns the body, without write keys; undefined if it was not read. */
  text?: (() => string) | undefined;
}
