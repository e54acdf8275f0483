import { setTimeout as sleep } from 'node:timers/promises';

import { Pool } from 'undici';

import { BATCH, trackMessage, WRITE_KEY } from '../support/messages.js';
import type { SoakLedger } from './soak.ledger.js';
import { toMessageId } from './soak.plan.js';

/** Requests in flight. */
const CONNECTIONS = 16;

/** Wait before a batch is posted again, in ms. */
const RETRY_DELAY = 200;

const HEADERS = {
  'content-type': 'application/json',
  authorization: `Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`,
};

/** Posts messages at a steady rate, as SDKs do: in batches, and again until they are accepted. */
export class SoakLoad {
  /** One for each relay. */
  private readonly pools: Pool[] = [];
  private stopped = false;
  private posted = 0;
  /** Batches that were posted again. */
  repeated = 0;

  constructor(
    private readonly ledger: SoakLedger,
    private readonly rate: number,
    private readonly size: number,
  ) {}

  /** Sets the address of a relay; batches are posted to any of them. */
  aim(url: string, relay = 0): void {
    const before = this.pools[relay];
    this.pools[relay] = new Pool(url, { connections: CONNECTIONS, headersTimeout: 15_000 });
    void before?.destroy();
  }

  /** Resolves once `stop` was called and all that was due until then is accepted. */
  async run(): Promise<void> {
    const start = performance.now();
    const post = async () => {
      while (!this.stopped && this.posted + BATCH <= this.size) {
        const first = this.posted;
        this.posted += BATCH;
        await sleep(start + (first * 1_000) / this.rate - performance.now());
        await this.post(first);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, post));
  }

  stop(): void {
    this.stopped = true;
  }

  private async post(first: number): Promise<void> {
    const indexes = Array.from({ length: BATCH }, (_, index) => first + index);
    const batch = indexes.map((index) => trackMessage(toMessageId(index)));
    const body = JSON.stringify({ batch, sentAt: new Date().toISOString() });
    while (!(await this.isAccepted(body))) {
      this.repeated++;
      await sleep(RETRY_DELAY);
    }
    for (const index of indexes) this.ledger.accept(index);
  }

  private async isAccepted(body: string): Promise<boolean> {
    const pool = this.pools[Math.floor(Math.random() * this.pools.length)]!;
    try {
      const response = await pool.request({ path: '/v1/batch', method: 'POST', headers: HEADERS, body });
      await response.body.dump();
      return response.statusCode === 200;
    } catch {
      return false;
    }
  }
}
