import type { Observable } from 'rxjs';

/** Maximum size of a text between processes as JSON, in bytes: PostgreSQL limits its notifications. */
export const MAX_PEER_TEXT = 5_800;

/** Carries texts between the processes that share a queue; a lost text is not sent again. */
export interface PeerChannel {
  /** Sends a text of at most 5,800 bytes, as JSON, to the other processes. */
  send(text: string): Promise<void>;
  /** Emits the texts that other processes send while it is subscribed to. */
  readonly received$: Observable<string>;
}
