import { setImmediate as nextTurn } from 'node:timers/promises';

import { type KeptLog, type LogRecord, type LogStore, timeOfLogId } from './log-store.interface.js';
import type { RetentionBound } from './retention.options.js';

/** How the names of the logs begin; the name of the source follows. */
const LOG = 'refusals:';

/** Records that one call of the store reads. */
const PORTION = 500;

/** Why a message was refused. */
export interface RefusalReason {
  /** Code of the rule that it breaks. */
  code: string;
  /** The field at fault, or `body`. */
  field: string;
  /** The rule. */
  message: string;
}

/** What is known of a refused message, or of a request that was refused as a whole. */
export interface RefusalFacts extends RefusalReason {
  /** `User-Agent` of its sender. */
  userAgent?: string | undefined;
  /** Name and version in its `context.library`. */
  library?: string | undefined;
  type?: string | undefined;
  event?: string | undefined;
  messageId?: string | undefined;
  /** Last part of the path that the request was posted to; undefined for a message. */
  route?: string | undefined;
  /** Size of the whole text, in bytes; undefined if it was not read. */
  bytes?: number | undefined;
  /** Whether the whole text is kept. */
  isWhole: boolean;
}

/** The record; the text is its attachment. */
interface Head extends RefusalFacts {
  /** When the sender posted it, by its own clock. */
  sentAt?: string | undefined;
  /** Users that it names: a deletion of their data removes it. */
  userIds: string[];
}

/** A refused message to be kept. */
export interface NewRefusal extends Head {
  /** Of `createLogId`. */
  id: string;
  source: string;
  text: string;
}

/** A refused message that is kept, without its text. */
export interface KeptRefusal extends RefusalFacts {
  id: string;
  /** Time of the refusal, in ms since the epoch. */
  at: number;
}

/** A refused message that was found without its source. */
export interface FoundRefusal extends KeptRefusal {
  source: string;
  /** As in a {@link RefusalGroup}. */
  sdk: string;
}

/** A refused message as it is sent again. */
export interface WholeRefusal extends KeptRefusal, Pick<Head, 'sentAt'> {
  text: string;
}

/** Selects refused messages; all given fields must match. */
export interface RefusalFilter {
  code?: string | undefined;
  field?: string | undefined;
  /** The library, or else the `User-Agent`, of the sender, or else `unknown`. */
  sdk?: string | undefined;
}

/** Refused messages with the same reason from the same SDK. */
export interface RefusalGroup {
  code: string;
  field: string;
  sdk: string;
  /** The rule, as the newest of them broke it. */
  message: string;
  count: number;
  /** Times of the newest and the oldest, in ms since the epoch. */
  newest: number;
  oldest: number;
}

/** Refused messages to be sent again: those with these ids, or as many as expected that match. */
export interface ResubmissionRequest extends RefusalFilter {
  source: string;
  ids?: string[] | undefined;
  expected?: number | undefined;
}

/** What became of refused messages that were sent again. */
export interface ResubmissionResult {
  /** Number of messages that were accepted, and are no longer kept as refused. */
  accepted: number;
  /** Number of those that were refused again, with their new reason, or are not kept whole. */
  refused: number;
  /** Number of those beyond the first 1,000, which were not sent again. */
  left: number;
}

function sdkOf({ library, userAgent }: RefusalFacts): string {
  return library ?? userAgent ?? 'unknown';
}

/** The messages that ingest has refused, for as long as `retention.refused` keeps them. */
export class KeptRefusals {
  /** Write what waits to be kept, so that a deletion finds it. */
  readonly flushes = new Set<() => Promise<void>>();

  constructor(
    private readonly store: LogStore,
    private readonly bound: Required<RetentionBound>,
  ) {}

  /** Whether any are kept. */
  get areKept(): boolean {
    return this.bound.age > 0 && this.bound.count > 0;
  }

  /** Resolves with whether they are kept: a store at its size limit keeps none. */
  async keep(refusals: NewRefusal[]): Promise<boolean> {
    const sources = new Set(refusals.map(({ source }) => source));
    const areKept = await Promise.all(
      Array.from(sources, (name) => {
        const records = refusals
          .filter(({ source }) => source === name)
          .map(({ id, source: _, text, ...head }) => ({ id, text: JSON.stringify(head), attachment: text }));
        return this.store.write(this.logOf(name), records);
      }),
    );
    return areKept.every(Boolean);
  }

  /** Returns those of a source that match, newest first; with the cursor of the next page, unless this is the last. */
  async page(
    source: string,
    filter: RefusalFilter,
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<{ refusals: KeptRefusal[]; next: string | undefined }> {
    const refusals: KeptRefusal[] = [];
    for await (const refusal of this.matching(source, filter, after)) {
      if (refusals.length === limit) return { refusals, next: refusals.at(-1)!.id };
      refusals.push(refusal);
    }
    return { refusals, next: undefined };
  }

  /** Returns those of any source with this message id or user id, newest first in each source; reads for `time` ms. */
  async findById(wanted: string, limit: number, time: number): Promise<FoundRefusal[]> {
    const end = performance.now() + time;
    const part = JSON.stringify(wanted);
    const found: FoundRefusal[] = [];
    for (const name of await this.store.names(LOG)) {
      const source = name.slice(LOG.length);
      for await (const records of this.portions(this.logOf(source))) {
        for (const { id, text } of records) {
          if (!text.includes(part)) continue; // parsing all would take most of the time
          const { messageId, userIds } = JSON.parse(text) as Head;
          if (messageId !== wanted && !userIds.includes(wanted)) continue;
          const refusal = toKept(id, text);
          found.push({ ...refusal, source, sdk: sdkOf(refusal) });
          if (found.length === limit) return found;
        }
        if (performance.now() > end) return found;
      }
    }
    return found;
  }

  /** Counts those of a source by reason and SDK, the most frequent first. */
  async groups(source: string): Promise<RefusalGroup[]> {
    const groups = new Map<string, RefusalGroup>();
    for await (const refusal of this.matching(source, {})) {
      const { code, field, message, at } = refusal;
      const sdk = sdkOf(refusal);
      const key = JSON.stringify([code, field, sdk]);
      const group = groups.get(key) ?? { code, field, sdk, message, count: 0, newest: at, oldest: at };
      group.count++;
      group.oldest = at;
      groups.set(key, group);
    }
    return [...groups.values()].sort((one, other) => other.count - one.count);
  }

  /** Returns the ids of those of a source that match, oldest first. */
  async ids(source: string, filter: RefusalFilter): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id } of this.matching(source, filter)) ids.push(id);
    return ids.reverse();
  }

  /** Returns those that are still kept, newest first. */
  async read(source: string, ids: string[]): Promise<WholeRefusal[]> {
    if (ids.length === 0) return [];
    const records = await this.store.find(this.logOf(source), ids);
    return records.map(({ id, text: head, attachment: text = '' }) => {
      const { sentAt } = JSON.parse(head) as Head;
      return { ...toKept(id, head), text, sentAt };
    });
  }

  /** Gives those that are still kept a new reason. */
  async setReasons(source: string, reasons: Map<string, RefusalReason>): Promise<void> {
    if (reasons.size === 0) return;
    const log = this.logOf(source);
    const records = await this.store.find(log, [...reasons.keys()]);
    const changed = records.map(({ id, text }) => {
      const { code, field, message } = reasons.get(id)!;
      return { id, text: JSON.stringify({ ...(JSON.parse(text) as Head), code, field, message }) };
    });
    await this.store.update(log, changed);
  }

  async remove(source: string, ids: string[]): Promise<number> {
    return ids.length === 0 ? 0 : this.store.remove(this.logOf(source), ids);
  }

  /** Removes those that name one of the users; resolves with their number. */
  async removeUsers(userIds: Iterable<string>, sources?: string[]): Promise<number> {
    const users = new Set(userIds);
    await Promise.all([...this.flushes].map((flush) => flush()));
    let removed = 0;
    const names = sources ?? (await this.store.names(LOG)).map((name) => name.slice(LOG.length));
    for (const source of names) {
      // Also what a lower age of the option hides, until a sweep removes it.
      for await (const records of this.portions({ ...this.logOf(source), age: Infinity })) {
        const found = records.filter(({ text }) => (JSON.parse(text) as Head).userIds.some((id) => users.has(id)));
        removed += await this.remove(
          source,
          found.map(({ id }) => id),
        );
      }
    }
    return removed;
  }

  private async *matching(source: string, filter: RefusalFilter, after?: string): AsyncGenerator<KeptRefusal> {
    for await (const records of this.portions(this.logOf(source), after)) {
      for (const { id, text } of records) {
        const refusal = toKept(id, text);
        const { code = refusal.code, field = refusal.field, sdk = sdkOf(refusal) } = filter;
        if (code === refusal.code && field === refusal.field && sdk === sdkOf(refusal)) yield refusal;
      }
    }
  }

  /** Reads the records of a log, newest first, with pauses for other work. */
  private async *portions(log: KeptLog, before?: string): AsyncGenerator<LogRecord[]> {
    for (let last = before; ;) {
      const records = await this.store.read(log, PORTION, last);
      if (records.length > 0) yield records;
      if (records.length < PORTION) return;
      last = records.at(-1)!.id;
      await nextTurn();
    }
  }

  private logOf(source: string): KeptLog {
    const { age, count } = this.bound;
    return { name: `${LOG}${source}`, age, count };
  }
}

function toKept(id: string, head: string): KeptRefusal {
  const facts = JSON.parse(head) as Partial<Head> & RefusalFacts;
  delete facts.userIds;
  delete facts.sentAt;
  return { id, at: timeOfLogId(id), ...facts };
}
