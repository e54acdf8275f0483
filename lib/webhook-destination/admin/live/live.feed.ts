import { merge, type Observable, type Subscription } from 'rxjs';
import { map, mergeMap } from 'rxjs/operators';

import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import type { Acceptance } from '../../ingest/message.acceptor.js';
import { type LiveEvent, toMessageEvents, toOutcomeEvent } from './live.event.js';
import type { EventStream } from './event-stream.js';

/** Streams of one process. */
export const MAX_STREAMS = 50;

/** What happens in this process, for those that watch; it costs nothing while nobody does. */
export class LiveFeed {
  private readonly events$: Observable<LiveEvent>;
  private readonly streams = new Set<EventStream>();
  private subscription: Subscription | undefined;

  constructor(accepted$: Observable<Acceptance>, outcomes$: Observable<DeliveryEvent>) {
    this.events$ = merge(
      accepted$.pipe(mergeMap((acceptance) => toMessageEvents(acceptance, Date.now()))),
      outcomes$.pipe(map((event) => toOutcomeEvent(event, Date.now()))),
    );
  }

  get isFull(): boolean {
    return this.streams.size >= MAX_STREAMS;
  }

  add(stream: EventStream): void {
    this.streams.add(stream);
    this.subscription ??= this.events$.subscribe((event) => {
      for (const reader of this.streams) reader.send(event);
    });
  }

  remove(stream: EventStream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    this.subscription?.unsubscribe();
    this.subscription = undefined;
  }

  /** Ends all streams. Comes before the server closes, which waits for them. */
  close(): void {
    for (const stream of [...this.streams]) stream.end();
  }
}
