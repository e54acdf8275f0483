import { concat, defer, Observable, of, share, Subject, takeUntil } from 'rxjs';

import { parseJson } from '../../../common/value.util.js';

/** Wait before a connection that ended is made anew, in ms. */
const RECONNECT_DELAY = 250;

/** Time between two checks whether a connection still answers, in ms: a host may be gone without a word. */
const CHECK_INTERVAL = 5_000;

/** A connection that receives signals. */
export interface SignalConnection {
  /** Connects, and begins to listen; rejects when that fails. */
  listen(): Promise<unknown>;
  /** Rejects when the connection does not answer. */
  check(): Promise<unknown>;
  close(): void;
}

/** Makes a connection; it calls `onSignal` for each signal, and `onEnd` when it has ended. */
export type CreateConnection<T> = (onSignal: (signal: T) => void, onEnd: () => void) => SignalConnection;

/** The texts of a signal; empty for what others send on a store that they use as well. */
export function readTexts(signal: string): string[] {
  const texts = parseJson(signal);
  return Array.isArray(texts) && texts.every((text) => typeof text === 'string') ? texts : [];
}

/** Listens to other processes while somebody subscribes, on one connection that is made anew when it ends. */
export class SignalListener<T = void> {
  private readonly closed = new Subject<void>();
  private isListening = false;
  /**
   * Emits each signal, and undefined whenever it begins to listen, or already does: signals may have been missed before.
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

  /** Ends it for all subscribers. */
  close(): void {
    this.closed.next();
  }
}
