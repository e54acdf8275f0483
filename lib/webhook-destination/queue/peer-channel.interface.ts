import type { Observable } from 'rxjs';

/** Most bytes of a text between processes: PostgreSQL takes no more. */
export const MAX_PEER_TEXT = 7_000;

/** Texts between the processes that share a queue; one that is lost is not sent again. */
export interface PeerChannel {
  /** Sends a text of at most 7,000 bytes to the others. */
  send(text: string): Promise<void>;
  /** What the others send, as long as it is subscribed to. */
  readonly received$: Observable<string>;
}
