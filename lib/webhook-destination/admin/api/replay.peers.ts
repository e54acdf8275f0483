import { filter, firstValueFrom, map, type Observable, type Subscription, timeout } from 'rxjs';

import { isPlainObject } from '../../../client/message/message.rules.js';
import { parseJson } from '../../../common/value.util.js';
import type { PeerChannel } from '../../queue/peer-channel.interface.js';
import type { ReplayProgress } from './replay.jobs.js';

/** Time for the process that runs a replay to answer, in ms. */
const ANSWER_TIME = 1_000;

/** Asks for the progress of a replay, and cancels it on request. */
interface Ask {
  replay: string;
  cancel: boolean;
}

/** Lets the processes that share a queue show and cancel each other's replays. */
export class ReplayPeers {
  private readonly received$: Observable<Record<string, unknown>>;
  private subscription: Subscription | undefined;

  /** @param find returns a replay of this process, cancelled on request */
  constructor(
    private readonly channel: PeerChannel,
    private readonly find: (id: string, cancel: boolean) => ReplayProgress | undefined,
  ) {
    this.received$ = channel.received$.pipe(map(parseJson), filter(isPlainObject));
  }

  /** Starts answering other processes. Call it once the queue is open. */
  open(): void {
    this.subscription = this.received$.pipe(filter(isAsk)).subscribe(({ replay, cancel }) => {
      const replayed = this.find(replay, cancel);
      if (replayed) this.send({ replayed }).catch(() => undefined); // without the answer, `ask` times out
    });
  }

  close(): void {
    this.subscription?.unsubscribe();
  }

  /** Resolves with undefined when no other process answers in time; rejects when none can be asked. */
  async ask(replay: string, cancel: boolean): Promise<ReplayProgress | undefined> {
    const answer$ = this.received$.pipe(
      map(({ replayed }) => replayed),
      filter(isProgress),
      // A running one answers another process that asked for the progress only.
      filter(({ id, state }) => id === replay && !(cancel && state === 'running')),
      timeout({ first: ANSWER_TIME, with: () => [undefined] }),
    );
    const answer = firstValueFrom(answer$, { defaultValue: undefined }); // empty when the queue closes
    await this.send({ replay, cancel });
    return answer;
  }

  private send(text: Ask | { replayed: ReplayProgress }): Promise<void> {
    return this.channel.send(JSON.stringify(text));
  }
}

function isAsk(value: Record<string, unknown>): value is Record<string, unknown> & Ask {
  return typeof value.replay === 'string' && typeof value.cancel === 'boolean';
}

function isProgress(value: unknown): value is ReplayProgress {
  if (!isPlainObject(value)) return false;
  const { id, state, query, total, done, left } = value;
  return (
    isPlainObject(query) &&
    [id, state].every((text) => typeof text === 'string') &&
    [total, done, left].every(Number.isSafeInteger)
  );
}
