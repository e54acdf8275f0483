import { Observable, share, Subject, takeUntil } from 'rxjs';

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
export type CreateConnection = (onSignal: () => void, onEnd: () => void) => SignalConnection;

/** Listens to other processes while somebody subscribes, on one connection that is made anew when it ends. */
export class SignalListener {
  private readonly closed = new Subject<void>();
  /** Emits at each signal, and whenever it begins to listen: signals may have been missed before. */
  readonly signals$: Observable<void>;

  constructor(create: CreateConnection) {
    this.signals$ = new Observable<void>((subscriber) => {
      let timer: NodeJS.Timeout | undefined;
      let connection: SignalConnection | undefined;
      const end = (ended: SignalConnection) => {
        if (ended !== connection) return;
        drop();
        timer = setTimeout(connect, RECONNECT_DELAY).unref();
      };
      const drop = () => {
        clearTimeout(timer);
        const dropped = connection;
        connection = undefined;
        dropped?.close();
      };
      const connect = () => {
        const made = create(
          () => subscriber.next(),
          () => end(made),
        );
        connection = made;
        made.listen().then(
          () => {
            if (connection !== made) return;
            timer = setInterval(() => void made.check().catch(() => end(made)), CHECK_INTERVAL).unref();
            subscriber.next();
          },
          () => end(made),
        );
      };
      connect();
      return drop;
    }).pipe(takeUntil(this.closed), share());
  }

  /** Ends it for all subscribers. */
  close(): void {
    this.closed.next();
  }
}
