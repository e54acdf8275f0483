import { setTimeout as sleep } from 'node:timers/promises';

import { post } from './post.js';

/** Messages in a posted batch. */
const BATCH = 5;

/** Batches posted side by side. */
const POSTERS = 4;

/** An answer other than 200; status 0 where there was none, with the error. */
export interface Refusal {
  status: number;
  retryAfter: string | null;
  /** How long it took, in ms. */
  time: number;
}

/** Posts messages to an ingest endpoint, each batch again until it is acknowledged, as SDKs do. */
export class IngestLoad {
  /** Ids of the messages answered with 200. */
  readonly acknowledged: string[] = [];
  readonly refusals: Refusal[] = [];
  private readonly posters: Promise<void>[];
  private lastMessage = 0;
  private posting = 0;
  private paused = false;
  private stopped = false;
  private abandoned = false;

  constructor(private readonly host: string) {
    this.posters = Array.from({ length: POSTERS }, () => this.run());
  }

  /** Resolves once no post is on its way. */
  async pause(): Promise<void> {
    this.paused = true;
    while (this.posting > 0) await sleep(5);
  }

  resume(): void {
    this.paused = false;
  }

  /** Resolves once all that was posted is acknowledged. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.posters);
  }

  /** Ends it, whatever is acknowledged. */
  async abandon(): Promise<void> {
    this.abandoned = true;
    await this.stop();
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const ids = Array.from({ length: BATCH }, () => `m-${this.lastMessage++}`);
      while (!(await this.isTaken(ids))) {
        if (this.abandoned) return;
        await sleep(50);
      }
      this.acknowledged.push(...ids);
    }
  }

  private async isTaken(ids: string[]): Promise<boolean> {
    while (this.paused && !this.stopped) await sleep(5);
    this.posting++;
    const start = Date.now();
    const batch = ids.map((messageId) => ({ type: 'track', messageId, userId: 'u1', event: 'Load' }));
    try {
      const answer = await post(`${this.host}/v1/batch`, { batch });
      await answer.arrayBuffer();
      const { status, headers } = answer;
      if (status === 200) return true;
      this.refusals.push({ status, retryAfter: headers.get('retry-after'), time: Date.now() - start });
    } catch (error) {
      this.refusals.push({ status: 0, retryAfter: String(error), time: Date.now() - start });
    } finally {
      this.posting--;
    }
    return false;
  }
}
