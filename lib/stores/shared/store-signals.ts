import { setTimeout as sleep } from 'node:timers/promises';

import { concat, defer, filter, map, mergeAll, Observable, retry, share, Subject, takeUntil } from 'rxjs';

import type { PeerChannel } from '../../webhook-destination/queue/peer-channel.interface.js';

/** Wait before reconnecting, in ms; after each failure in succession as much longer, up to the maximum. */
const RECONNECT_DELAY = 250;
const MAX_RECONNECT_DELAY = 2_000;

/** Time between checks that the connection still answers, in ms: a host may vanish without closing it. */
const CHECK_INTERVAL = 5_000;

export type SignalKind = 'registry' | 'due' | 'purged' | 'peer';

interface Signal {
  kind: SignalKind;
  texts: string[];
}

/** Emitted when listening begins, and on a later subscription: signals may have been missed. */
const MISSED: Signal[] = [
  { kind: 'registry', texts: [] },
  { kind: 'due', texts: [] },
];

export type OnSignal = (kind: SignalKind, texts: string[]) => void;

/** A connection that receives signals. */
export interface SignalConnection {
  /** Connects and starts listening; rejects when that fails. */
  listen(): Promise<unknown>;
  /** Rejects when the connection does not answer. */
  check(): Promise<unknown>;
  close(): void;
}

/**
 * Signals between the processes that share a store. While there are subscribers, a process listens on one connection,
 * which is replaced when it ends.
 */
export abstract class StoreSignals implements PeerChannel {
  private readonly closed = new Subject<void>();
  private isListening = false;
  private readonly shared$ = this.listen().pipe(
    retry({
      resetOnSuccess: true,
      delay: (_error, count) =>
        sleep(Math.min(RECONNECT_DELAY * count, MAX_RECONNECT_DELAY), undefined, { ref: false }),
    }),
    takeUntil(this.closed),
    share(),
  );
  /** Emits when the registry may have changed. */
  readonly registry$ = this.textsOf('registry').pipe(map(() => undefined));
  /** Emits destinations that got due deliveries; an empty list means that they must be looked up. */
  readonly due$ = this.textsOf('due');
  /** Emits ids of leased deliveries that another process purged. */
  readonly purged$ = this.textsOf('purged');
  /** Emits the texts that other processes send with `send`. */
  readonly received$ = this.textsOf('peer').pipe(mergeAll());

  abstract send(text: string): Promise<void>;

  /** Completes all subscriptions. */
  close(): void {
    this.closed.next();
  }

  /** Creates a connection that calls `onSignal` for each signal of another process, and `onEnd` when it has ended. */
  protected abstract connect(onSignal: OnSignal, onEnd: () => void): SignalConnection;

  /** Emits the signals of one connection; fails when it ends. */
  private listen(): Observable<Signal> {
    return new Observable((subscriber) => {
      let timer: NodeJS.Timeout | undefined;
      const end = () => subscriber.error(new Error('the connection has ended'));
      const connection = this.connect((kind, texts) => subscriber.next({ kind, texts }), end);
      connection.listen().then(() => {
        if (subscriber.closed) return;
        timer = setInterval(() => void connection.check().catch(end), CHECK_INTERVAL).unref();
        this.isListening = true;
        for (const signal of MISSED) subscriber.next(signal);
      }, end);
      return () => {
        clearInterval(timer);
        this.isListening = false;
        connection.close();
      };
    });
  }

  private textsOf(wanted: SignalKind): Observable<string[]> {
    return defer(() => (this.isListening ? concat(MISSED, this.shared$) : this.shared$)).pipe(
      filter(({ kind }) => kind === wanted),
      map(({ texts }) => texts),
    );
  }
}
