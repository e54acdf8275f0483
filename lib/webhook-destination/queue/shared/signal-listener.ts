import { concat, defer, Observable, of, share, Subject, takeUntil } from 'rxjs';

import { parseJson } from '../../../common/value.util.js';

/** Wait before reconnecting, in ms. */
const RECONNECT_DELAY = 250;

/** Time between checks that the connection still answers, in ms: a host may vanish without closing it. */
const CHECK_INTERVAL = 5_000;

/** A connection that receives signals. */
export interface SignalConnection {
  /** Connects and starts listening; rejects when that fails. */
  listen(): Promise<unknown>;
  /** Rejects when the connection does not answer. */
  check(): Promise<unknown>;
  close(): void;
}

/** Creates a connection that calls `onSignal` for each signal, and `onEnd` when it has ended. */
export type CreateConnection<T> = (onSignal: (signal: T) => void, onEnd: () => void) => SignalConnection;

/** Returns the texts of a signal; empty for messages that other users of the store send. */
export function readTexts(signal: string): string[] {
  const texts = parseJson(signal);
  return Array.isArray(texts) && texts.every((text) => typeof text === 'string') ? texts : [];
}

/** Listens to other processes while there are subscribers, on one connection that is replaced when it ends. */
export class SignalListener<T = void> {
  private readonly closed = new Subject<void>();
  private isListening = false;
  /**
   * Emits each signal, and undefined when listening begins and on a later subscription: signals may have been missed.
   */
  readonly signals$: Observable<T | undefined>;

  constructor(create: CreateConnection<T>) {
    const shared$ = new Observable<T | undefined>((subscriber) => {
      let timer: NodeJS.Timeout | undefined;
      let connection: SignalConnection | undefined;
      const end = (ended: SignalConnection) => {
        if (ended !== connection) return;
        drop();
        timer = setTimeout(connect, RECONNECT_DELAY).unref();
      };
      const drop = () => {
        clearTimeout(timer);
        this.isListening = false;
        const dropped = connection;
        connection = undefined;
        dropped?.close();
      };
      const connect = () => {
        const made = create(
          (signal) => subscriber.next(signal),
          () => end(made),
        );
        connection = made;
        made.listen().then(
          () => {
            if (connection !== made) return;
            timer = setInterval(() => void made.check().catch(() => end(made)), CHECK_INTERVAL).unref();
            this.isListening = true;
            subscriber.next(undefined);
          },
          () => end(made),
        );
      };
      connect();
      return drop;
    }).pipe(takeUntil(this.closed), share());
    this.signals$ = defer(() => (this.isListening ? concat(of(undefined), shared$) : shared$));
  }

  /** Completes all subscriptions. */
  close(): void {
    this.closed.next();
  }
}
