import { type Observable, Subscription } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { isPlainObject, parseTimestamp } from '../../client/message/message.rules.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { parseJson } from '../../common/value.util.js';
import { within } from '../../common/promise.util.js';
import type { Acceptance, Refusal, RefusedMessage } from '../ingest/ingest.result.js';
import type { KeptRefusals, NewRefusal } from '../queue/kept-refusals.js';
import { createLogId } from '../queue/log-store.interface.js';

/** Maximum size of a kept text, in bytes. */
const MAX_TEXT = 32 * 1024;

/** Messages that are kept in a second, and bytes of texts that are read for it. */
const MAX_KEPT = 100;
const MAX_READ = 1024 * 1024;

const SECOND = 1_000;

/** Messages that wait for the store at most. */
const MAX_WAITING = 200;

/** Minimum time between two writes, in ms. */
const WRITE_INTERVAL = 250;

/** Time between two lines about messages that were not kept, in ms. */
const REPORT_INTERVAL = 60_000;

/** Maximum wait for the last write, in ms. */
const CLOSE_TIMEOUT = 2_000;

/** Maximum length of a value that is shown of a message, in characters. */
const MAX_VALUE = 200;

/** Statuses of requests that are refused for a while, or whose sender is unknown. */
const NOT_KEPT = [401, 404, 429];

const USER_ID = /"userId"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/g;
const LIBRARY = /"library"\s*:\s*(\{[^{}]*\})/;

/** Keeps what ingest refuses, up to a rate: a flood of it neither delays what is accepted nor fills the store. */
export class RefusalKeeper {
  private readonly logger = new LimitedLogger('WebhookDestinationRefusals');
  private readonly subscription = new Subscription();
  private waiting: NewRefusal[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing = Promise.resolve();
  /** What was kept and read since the start of the current second. */
  private second = { start: -Infinity, kept: 0, read: 0 };
  private unkept = 0;
  private reportedAt = -Infinity;

  constructor(
    private readonly refusals: Pick<KeptRefusals, 'keep' | 'areKept' | 'flushes'>,
    accepted$: Observable<Acceptance>,
    refused$: Observable<Refusal> | undefined,
  ) {
    if (!refusals.areKept) return;
    this.subscription.add(accepted$.subscribe((acceptance) => this.keepMessages(acceptance)));
    this.subscription.add(refused$?.subscribe((refusal) => this.keepRequest(refusal)));
    refusals.flushes.add(this.flush);
  }

  /** Writes the last ones, if the store answers in time. Called before the queue closes. */
  async close(): Promise<void> {
    this.subscription.unsubscribe();
    await within(CLOSE_TIMEOUT, this.flush(), 'the last write').catch(() => undefined);
    this.refusals.flushes.delete(this.flush);
    clearTimeout(this.timer);
    this.reportedAt = -Infinity;
    this.report();
    this.logger.end();
  }

  private readonly flush = (): Promise<void> => {
    clearTimeout(this.timer);
    this.write();
    return this.writing;
  };

  private keepMessages({ source, refused, sender, sentAt }: Acceptance): void {
    for (const message of refused) {
      this.keep(source, () => ({
        ...describeMessage(message, sender?.conceal),
        userAgent: sender?.userAgent,
        sentAt: parseTimestamp(sentAt)?.toISOString(),
      }));
    }
  }

  private keepRequest({ source, code, field = 'body', message, status, sender, route, text }: Refusal): void {
    if (source === undefined || status >= 500 || NOT_KEPT.includes(status)) return;
    this.keep(source, () => {
      const whole = text?.();
      // The text may end within a message whose user comes later.
      const read = whole?.slice(0, 2 * MAX_TEXT) ?? '';
      const library = Object(parseJson(LIBRARY.exec(read)?.[1] ?? '')) as Record<string, unknown>;
      const userIds = new Set(Array.from(read.matchAll(USER_ID), ([, id]) => String(parseJson(id!))));
      const facts = { code, field, message, userAgent: sender?.userAgent, library: nameOf(library), route };
      return { ...facts, userIds: [...userIds], ...cut(whole) };
    });
  }

  private keep(source: string, describe: () => Omit<NewRefusal, 'id' | 'source'>): void {
    const now = Date.now();
    const elapsed = now - this.second.start;
    if (!(elapsed >= 0 && elapsed < SECOND)) this.second = { start: now, kept: 0, read: 0 };
    const { kept, read } = this.second;
    if (kept >= MAX_KEPT || read >= MAX_READ || this.waiting.length >= MAX_WAITING) return void this.unkept++;
    this.second.kept++;
    const refusal = describe();
    this.second.read += refusal.bytes ?? 0;
    this.waiting.push({ id: createLogId(now), source, ...refusal });
    this.timer ??= setTimeout(() => this.write(), WRITE_INTERVAL).unref();
  }

  /** Writes one group at a time. */
  private write(): void {
    this.writing = this.writing.then(() => this.writeWaiting());
  }

  /** Never rejects. */
  private async writeWaiting(): Promise<void> {
    const refusals = [...this.waiting]; // more may come meanwhile
    if (refusals.length > 0) {
      try {
        const areKept = await this.refusals.keep(refusals);
        if (!areKept) this.unkept += refusals.length;
        this.logger.succeeded();
      } catch (error) {
        this.unkept += refusals.length;
        this.logger.failed(`Refused messages could not be kept: ${errorMessage(error)}`);
      }
    }
    this.report();
    this.waiting = this.waiting.slice(refusals.length);
    this.timer = this.waiting.length > 0 ? setTimeout(() => this.write(), WRITE_INTERVAL).unref() : undefined;
  }

  private report(): void {
    if (this.unkept === 0 || Date.now() - this.reportedAt < REPORT_INTERVAL) return;
    this.logger.warn(
      `Refused messages that were only counted, because there were more than ${MAX_KEPT} in a second, or the queue is full or slow: ${this.unkept}`,
    );
    this.unkept = 0;
    this.reportedAt = Date.now();
  }
}

function describeMessage(
  { posted, fault }: RefusedMessage,
  conceal = (text: string) => text,
): Omit<NewRefusal, 'id' | 'source'> {
  const { type, event, messageId, userId } = Object(posted.value) as Record<string, unknown>;
  let library: Record<string, unknown> = {};
  let text: string | undefined;
  try {
    const whole = posted.whole();
    const { context } = Object(whole) as { context?: { library?: unknown } };
    library = Object(context?.library) as Record<string, unknown>;
    // Of a name like those of SDKs, no value is kept.
    text = JSON.stringify(whole, (name, value: unknown) =>
      name === 'writeKey' ? undefined : typeof value === 'string' ? conceal(value) : value,
    );
  } catch {
    // A message made in this process may be no JSON.
  }
  return {
    ...{ code: fault.code, field: fault.field, message: fault.message, library: nameOf(library) },
    ...{ type: textIn(type), event: textIn(event), messageId: textIn(messageId) },
    userIds: isPlainObject(posted.value) && typeof userId === 'string' ? [userId] : [],
    ...cut(text),
  };
}

/** Returns what is kept of a text. */
function cut(whole: string | undefined): Pick<NewRefusal, 'text' | 'bytes' | 'isWhole'> {
  if (whole === undefined) return { text: '', bytes: undefined, isWhole: false };
  const bytes = Buffer.byteLength(whole);
  if (bytes <= MAX_TEXT && !whole.includes('\0')) return { text: whole, bytes, isWhole: true };
  const text = Buffer.from(whole)
    .subarray(0, MAX_TEXT)
    .toString()
    .replace(/\ufffd$/, '')
    .replaceAll('\0', '\ufffd');
  return { text, bytes, isWhole: false };
}

function nameOf({ name, version }: Record<string, unknown>): string | undefined {
  return textIn([name, version].filter((part) => typeof part === 'string' && part !== '').join(' '));
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_VALUE) : undefined;
}
