import { measure } from '../client/delivery/event.queue.js';
import type { EventLedger } from '../client/event/event.ledger.js';
import type { EventSink, PendingEvent } from '../client/event/pending-event.interface.js';
import type { Message } from '../client/index.js';
import type { AnalyticsRecorder } from './analytics.recorder.js';

/** Replaces the queue: each event is recorded synchronously, and counts as delivered. No network, no timers. */
export class RecordingQueue implements EventSink {
  constructor(
    private readonly recorder: AnalyticsRecorder,
    private readonly ledger: EventLedger,
  ) {}

  add(event: PendingEvent): void {
    const reason = measure(event);
    if (!reason) this.recorder.add(JSON.parse(event.json) as Message);
    this.ledger.endLater(event, reason);
  }

  flush(): void {}

  abort(): void {}

  abortAll(): void {}
}
