import type { ServerResponse } from 'node:http';

import { merge, type Observable, type Subscription } from 'rxjs';
import { map, mergeMap } from 'rxjs/operators';

import { ClosedError } from '../../../common/relay.errors.js';
import type { DeliveryEvent } from '../../dispatch/delivery-event.js';
import { CallerQuota, type CountedCaller } from '../../http/caller.quota.js';
import { RequestError } from '../../http/request.error.js';
import type { Acceptance } from '../../ingest/ingest.result.js';
import type { PeerChannel } from '../../queue/peer-channel.interface.js';
import { EventStream } from './event-stream.js';
import { type LiveEvent, type LiveFilter, toMessageEvents, toOutcomeEvent } from './live.event.js';
import { LivePeers } from './live.peers.js';

/** Maximum number of streams per process. */
const MAX_STREAMS = { each: 10, readers: 40, all: 50 };

/** Events that happened together; created only once a reader needs them. */
interface Happening {
  count: number;
  toEvents: () => LiveEvent[];
}

/** Sends the events of this process, and of the processes that share its queue, to the open streams. */
export class LiveFeed {
  private readonly happenings$: Observable<Happening>;
  private readonly streams = new Set<EventStream>();
  private readonly quota = new CallerQuota(MAX_STREAMS);
  private readonly peers: LivePeers | undefined;
  private subscription: Subscription | undefined;
  private isClosed = false;

  /** @param channel channel to the processes that share the queue; undefined if the queue is not shared */
  constructor(accepted$: Observable<Acceptance>, outcomes$: Observable<DeliveryEvent>, channel?: PeerChannel) {
    this.happenings$ = merge(
      accepted$.pipe(
        map((acceptance) => ({
          count: acceptance.messages.length + acceptance.duplicates.length + acceptance.rejected.length,
          toEvents: () => toMessageEvents(acceptance, Date.now()),
        })),
      ),
      outcomes$.pipe(map((event) => ({ count: 1, toEvents: () => [toOutcomeEvent(event, Date.now())] }))),
    );
    const filters = () => [...this.streams].map(({ filter }) => filter);
    const events$ = this.happenings$.pipe(mergeMap(({ toEvents }) => toEvents()));
    if (channel) this.peers = new LivePeers(channel, events$, filters);
  }

  /** Answers other processes from now on. Called once the queue is open. */
  open(): void {
    this.peers?.open();
  }

  /**
   * Answers with a stream of the events that pass the filter; undefined if the client has disconnected.
   *
   * @throws {ClosedError} while the application shuts down: the server would wait for the stream
   * @throws {RequestError} 503 if too many streams are open
   */
  stream(response: ServerResponse, filter: LiveFilter, caller: CountedCaller): EventStream | undefined {
    // The client disconnected during authentication: nothing would remove its stream.
    if (response.req.socket.destroyed) return undefined;
    if (this.isClosed) throw new ClosedError('the application is shutting down');
    const share = this.quota.take(caller, 1);
    if (!share) {
      const { each, readers, all } = MAX_STREAMS;
      const rule = `a process has at most ${all} streams, ${readers} of callers who may only read, ${each} of one caller`;
      throw new RequestError('too_many_streams', rule, undefined, undefined, 10);
    }
    const scope = this.peers ? 'queue' : 'process';
    const stream = new EventStream(response, filter, scope);
    void stream.closed.then(() => {
      share.release();
      this.remove(stream);
    });
    this.streams.add(stream);
    if (this.subscription) this.peers?.ask();
    else this.subscription = this.follow();
    return stream;
  }

  private remove(stream: EventStream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) {
      this.peers?.ask(); // with fewer filters: unwanted events would take the place of others
      return;
    }
    this.subscription?.unsubscribe();
    this.subscription = undefined;
  }

  private follow(): Subscription {
    const send = ({ count, toEvents }: Happening) => {
      let events: LiveEvent[] | undefined;
      for (const reader of this.streams) {
        if (reader.skips(count)) continue;
        for (const event of (events ??= toEvents())) reader.send(event);
      }
    };
    const subscription = this.happenings$.subscribe(send);
    subscription.add(
      this.peers?.events$.subscribe(({ events, missed }) => {
        send({ count: events.length, toEvents: () => events });
        for (const reader of this.streams) reader.miss(missed);
      }),
    );
    return subscription;
  }

  /** Ends all streams. Called before the server closes, because closing waits for them. */
  close(): void {
    this.isClosed = true;
    for (const stream of [...this.streams]) stream.end();
    this.peers?.close();
  }
}
