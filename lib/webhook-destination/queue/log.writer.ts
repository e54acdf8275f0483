import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { within } from '../../common/promise.util.js';
import type { KeptLog, LogStore } from './log-store.interface.js';

/** Minimum time between two writes, in ms; those of the meantime are written together. */
const WRITE_INTERVAL = 1_000;

/** Maximum number of records that wait for the store. */
const MAX_WAITING = 1_000;

/** Maximum number of records in one write. */
const PORTION = 100;

/** Maximum wait for a write by those who ask for it, in ms. */
const FLUSH_TIMEOUT = 2_000;

/** A record that is to be written. */
interface WaitingRecord {
  log: KeptLog;
  id: string;
  value: object;
}

/** Writes records of logs in the background, together. What it cannot write stays in memory until it can. */
export class LogWriter {
  private readonly logger = new LimitedLogger('WebhookDestinationLog');
  /** By log and id, the oldest first. */
  private waiting = new Map<string, WaitingRecord>();
  /** Records of the write in progress that are not written yet. */
  private taken = new Map<string, WaitingRecord>();
  private lost = 0;
  private lastWrite = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();
  private isClosed = false;

  /** @param what names the records in log lines */
  constructor(
    private readonly store: Pick<LogStore, 'write'>,
    private readonly what: string,
  ) {}

  /** Writes a record soon, in place of an earlier one with the same id. The value is read when it is written. */
  put(log: KeptLog, id: string, value: object): void {
    const key = `${log.name} ${id}`;
    if (!this.waiting.has(key) && this.waiting.size >= MAX_WAITING) {
      const [oldest] = this.waiting.keys();
      this.waiting.delete(oldest!);
      this.lost++;
    }
    this.waiting.set(key, { log, id, value });
    this.schedule(Math.max(this.lastWrite + WRITE_INTERVAL - performance.now(), 0));
  }

  /** Resolves once the records so far are written, or after two seconds. Never rejects. */
  async flush(): Promise<void> {
    await within(FLUSH_TIMEOUT, this.write(), 'the write').catch(() => undefined);
  }

  /** Writes the remaining records, if the store answers in time. Called before the queue closes: nothing is written later. */
  async close(): Promise<void> {
    await this.flush();
    this.isClosed = true;
    clearTimeout(this.timer);
    const left = this.lost + this.waiting.size + this.taken.size;
    if (left > 0) this.logger.error(`${this.what} lost, as they could not be written: ${left}`);
    this.logger.end();
  }

  private schedule(delay: number): void {
    if (!this.isClosed) this.timer ??= setTimeout(() => void this.write(), delay).unref();
  }

  private write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.writeWaiting());
    return this.writing;
  }

  /** Never rejects. */
  private async writeWaiting(): Promise<void> {
    if (this.isClosed || this.waiting.size === 0) return;
    this.lastWrite = performance.now();
    const taken = (this.taken = this.waiting);
    this.waiting = new Map();
    try {
      for (const portion of toPortions(taken.values())) {
        if (this.isClosed) return;
        await this.store.write(
          portion[0]!.log,
          portion.map(({ id, value }) => ({ id, text: JSON.stringify(value) })),
        );
        for (const { log, id } of portion) taken.delete(`${log.name} ${id}`);
      }
      if (this.lost > 0) this.logger.error(`${this.what} lost, as they could not be written in time: ${this.lost}`);
      this.lost = 0;
      this.logger.succeeded();
    } catch (error) {
      if (this.isClosed) return;
      this.logger.failed(`${this.what} cannot be written; trying again: ${errorMessage(error)}`);
      const later = [...this.waiting.values()];
      this.waiting = taken;
      this.taken = new Map();
      for (const { log, id, value } of later) this.put(log, id, value);
      this.schedule(WRITE_INTERVAL);
    }
  }
}

/** Divides records into portions of one log each. */
function toPortions(records: Iterable<WaitingRecord>): WaitingRecord[][] {
  const open = new Map<string, WaitingRecord[]>();
  const portions: WaitingRecord[][] = [];
  for (const record of records) {
    const { name } = record.log;
    const portion = open.get(name);
    if (portion && portion.length < PORTION) portion.push(record);
    else {
      const begun = [record];
      open.set(name, begun);
      portions.push(begun);
    }
  }
  return portions;
}
