import type { Observable } from 'rxjs';

/** Maximum size of a text between processes, in bytes: PostgreSQL limits its notifications. */
export const MAX_PEER_TEXT = 7_000;

/** Carries texts between the processes that share a queue; a lost text is not sent again. */
export interface PeerChannel {
  /** Sends a text of at most 7,000 bytes to the other processes. */
  send(text: string): Promise<void>;
  /** Emits the texts that other processes send while it is subscribed to. */
  readonly received$: Observable<string>;
}
