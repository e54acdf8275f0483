import type { SqliteConnection } from './sqlite.connection.js';

import { foundOnce } from '../../common/found-once.util.js';
import type { AttemptRecord } from '../../webhook-destination/queue/attempt-record.interface.js';
import {
  type DeliveryState,
  isOpen,
  isOpenNotice,
  type PurgedSource,
} from '../../webhook-destination/queue/delivery.interface.js';
import {
  type CheckedSearch,
  comparesBody,
  matchesAttempt,
  matchesBody,
  mayMatch,
  PORTION_BYTES,
} from '../../webhook-destination/queue/delivery-search.js';
import type { CheckedQuery } from '../../webhook-destination/queue/query.util.js';
import { BATCH_SLOTS, batchOf, decodeItems, decoding, toPositions, toText } from './batch.codec.js';
import { toRows } from './batch.reader.js';
import { type BatchTable, MAX_STRIPPED } from './batch.table.js';
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  type KeyedSearch,
  matchesRow,
  type Slice,
  toCondition,
  toDeliveryRows,
  type WholeRows,
} from './delivery-rows.js';

/** Most batches of a step. The first step of a call has one, and each further one twice as many: a call is short. */
const MAX_BATCHES = 32;

/** Rows, or keys, of a step for each of its batches. */
const ROWS_PER_BATCH = 6;

/** How long one call reads, in ms: other calls of the thread wait meanwhile. */
const CALL_TIME = 2;

/** State of the batches with deliveries in a state that have no row of their own. */
const BATCH_STATES: Partial<Record<DeliveryState, string>> = { queued: 'q', waiting: 'r', delivering: 'l' };

/** Earliest time that SQL can compare. */
const EARLIEST = Number.MIN_SAFE_INTEGER;

/** Maximum number of ids for which the text of items is searched. With more, parsing the items is faster. */
const MAX_SEARCHED_IDS = 16;

/** Walks over deliveries that match, newest first, in calls that are short. */
export class SqliteWalk {
  private readonly statements;

  constructor(
    private readonly db: SqliteConnection,
    private readonly batches: BatchTable,
  ) {
    const bound = (table: string) => (which: string) =>
      db.prepare(`SELECT id FROM ${table} WHERE id < ? AND ${which} ORDER BY id DESC LIMIT 1 OFFSET ? - 1`);
    this.statements = {
      batchBound: foundOnce(bound('batch')),
      rowBound: foundOnce(bound('delivery')),
      batches: foundOnce((which: string) =>
        db.prepare(
          `SELECT id, source, CAST(iif(?, items, '') AS BLOB) AS items FROM batch
           WHERE id >= ? AND id < ? AND accepted_at >= ? AND accepted_at < ? AND (? IS NULL OR destination = ?)
             AND ${which}`,
        ),
      ),
    };
  }

  /** @param before id below which deliveries are searched */
  search(search: KeyedSearch, before: number, limit: number, isBodiless: boolean): Slice<WholeRows> {
    const found: DeliveryRow[] = [];
    let size = 0;
    const next = this.walk(search, before, (rows) => {
      const taken = rows.slice(0, limit - found.length);
      found.push(...taken);
      if (!isBodiless) size += taken.reduce((sum, { bytes }) => sum + bytes, 0);
      return found.length < limit && size <= PORTION_BYTES ? undefined : found.at(-1)!.id;
    });
    if (!isBodiless) return { result: this.batches.reader.withBodies(found), next };
    const rows = found.map((row) => ({ ...row, bytes: 0 }));
    return { result: { rows: JSON.stringify(rows), bodies: new Uint8Array() }, next };
  }

  /** Removes matching deliveries below the id `before`, as `DeliveryStore.purge`. */
  purge(query: CheckedQuery, keepsNotices: boolean, before: number): Slice<PurgedSource[]> {
    const result: PurgedSource[] = [];
    let stripped = 0;
    const search = { query, acceptedFrom: EARLIEST };
    const next = this.walk(search, before, (rows) => {
      const bodies = keepsNotices && rows.some(isOpen) ? this.bodiesOf(search, batchOf(rows[0]!.id)) : undefined;
      const isKept = ({ id, state }: DeliveryRow) =>
        bodies !== undefined && isOpenNotice({ body: bodies[id % BATCH_SLOTS]!, state });
      const purged = rows.filter((row) => !isKept(row));
      const ids = purged.map(({ id }) => id);
      for (const [batch, positions] of toPositions(ids)) if (this.batches.strip(batch, positions)) stripped++;
      const { source } = rows[0]!; // of a batch, as all of them
      if (ids.length > 0) result.push({ source, count: ids.length });
      return stripped < MAX_STRIPPED ? undefined : rows.at(-1)!.id;
    });
    return { result, next };
  }

  /**
   * Visits the matching deliveries of each batch until the time is up, or `visit` returns an id. Returns the id below
   * which the next call goes on; undefined when this was the last.
   */
  private walk(
    search: KeyedSearch,
    before: number,
    visit: (rows: DeliveryRow[]) => number | undefined,
  ): number | undefined {
    const end = performance.now() + CALL_TIME;
    const { id } = search.query;
    const first = id === undefined ? 0 : Math.max(Number(id), 0);
    const last = id === undefined ? before : Math.min(before, first + 1);
    let to = last;
    for (let count = 1; to > first; count = Math.min(2 * count, MAX_BATCHES)) {
      const { from, rows, batches } = this.stepBelow(search, to, first, count);
      for (const batch of [...batches].sort((a, b) => b - a)) {
        if (performance.now() > end && to < last) return (batch + 1) * BATCH_SLOTS;
        const matching = this.select(search, batch, rows, to);
        const stop = matching.length > 0 ? visit(matching) : undefined;
        if (stop !== undefined) return stop;
        to = Math.min(to, batch * BATCH_SLOTS);
      }
      to = from;
      if (performance.now() > end) break;
    }
    return to > first ? to : undefined;
  }

  /** Returns the next step below `to`, of about so many batches: its first id, its matching rows, and what may match. */
  private stepBelow(search: KeyedSearch, to: number, first: number, count: number): Step {
    const [key] = search.keys ?? [];
    if (key !== undefined && search.query.id === undefined) return this.keyedStepBelow(search, key, to, count);
    const from = Math.max(this.startOf(search.query, to, count), first);
    const rows = this.rowsOf(search, from, to);
    return {
      from,
      rows,
      batches: new Set([...rows.map(({ id }) => batchOf(id)), ...this.batchesOf(search, from, to)]),
    };
  }

  /** As {@link stepBelow}, with the next batches that have deliveries with a key. */
  private keyedStepBelow(search: KeyedSearch, key: number, to: number, count: number): Step {
    const most = count * ROWS_PER_BATCH;
    const ids = this.batches.keys.find(key, to, most);
    const batches = new Set(ids.map(batchOf));
    const rows = [...batches].flatMap((batch) =>
      this.rowsOf(search, batch * BATCH_SLOTS, Math.min((batch + 1) * BATCH_SLOTS, to)),
    );
    return { from: ids.length < most ? 0 : batchOf(ids.at(-1)!) * BATCH_SLOTS, rows, batches };
  }

  /**
   * Returns the first id of the step below `before`, which begins at the same batch in both tables. What an index finds
   * bounds it: a few dead deliveries are one step, however many others are between them.
   */
  private startOf(query: CheckedQuery, before: number, count: number): number {
    const [rowCondition, ...rowValues] = rowsIn(query);
    const row = this.statements.rowBound(rowCondition).get(before, ...rowValues, count * ROWS_PER_BATCH) as
      { id: number } | undefined;
    const ofRow = batchOf(row?.id ?? 0);
    if (query.state === 'dead') return ofRow * BATCH_SLOTS;
    const [condition, ...values] = batchesIn(query);
    const batch = this.statements.batchBound(condition).get(Math.ceil(before / BATCH_SLOTS), ...values, count);
    return Math.max((batch as { id: number } | undefined)?.id ?? 0, ofRow) * BATCH_SLOTS;
  }

  /** Returns the deliveries of a step that have a row of their own and match, apart from their bodies. */
  private rowsOf({ query, acceptedFrom }: CheckedSearch, from: number, to: number): DeliveryRow[] {
    const { sql, parameters } = toCondition(query);
    const select = this.db.prepare(
      `SELECT ${DELIVERY_COLUMNS} FROM delivery WHERE ${sql} AND accepted_at >= ? AND id >= ? AND id < ?`,
    );
    return toDeliveryRows(select.all(...parameters, Math.max(acceptedFrom, EARLIEST), from, to));
  }

  /** Returns the batches of a step that may hold a message of the query. */
  private batchesOf({ query, acceptedFrom }: CheckedSearch, from: number, to: number): number[] {
    if (query.state === 'dead') return [];
    const { acceptedBefore = Number.MAX_SAFE_INTEGER, messageId, userId } = query;
    const messageIds = messageId === undefined ? undefined : new Set([messageId]);
    const needsItems = messageIds || userId ? 1 : 0;
    const range = [batchOf(from), Math.ceil(to / BATCH_SLOTS), Math.max(acceptedFrom, EARLIEST), acceptedBefore];
    const [condition, ...values] = batchesIn(query);
    const { destination = null } = query;
    const rows = this.statements.batches(condition).all(needsItems, ...range, destination, destination, ...values);
    return (rows as { id: number; source: string; items: Uint8Array }[])
      .filter(({ source }) => query.source?.has(source) ?? true)
      .filter(({ id, items }) => decoding('batch', id, () => hasId(items, 0, messageIds) && hasId(items, 1, userId)))
      .map(({ id }) => id);
  }

  /** Returns the matching deliveries of a batch, newest first, given the matching rows of its step. */
  private select(search: CheckedSearch, batch: number, stepRows: DeliveryRow[], to: number): DeliveryRow[] {
    const { query, acceptedFrom } = search;
    const byBody = comparesBody(search);
    const bodies = byBody ? this.bodiesOf(search, batch) : undefined;
    if (byBody && bodies === undefined) return [];
    const head = query.state === 'dead' ? undefined : this.batches.reader.head(batch);
    const others = head === undefined || head.accepted_at < acceptedFrom ? [] : toRows(head);
    const matching = others.filter((row) => row.id < to && matchesRow(query, row));
    const own = stepRows.filter(({ id }) => batchOf(id) === batch);
    const found = this.ofRelease(search, batch, [...own, ...matching]);
    const rows = found.filter((row) => hasStatus(search, row)).sort((a, b) => b.id - a.id);
    return bodies ? rows.filter(({ id }) => matchesBody(search, bodies[id % BATCH_SLOTS]!)) : rows;
  }

  /** Returns the rows of a batch that have the release of a search, which stays in the batch. */
  private ofRelease({ release }: CheckedSearch, batch: number, rows: DeliveryRow[]): DeliveryRow[] {
    if (release === undefined || rows.length === 0) return rows;
    const items = decoding('batch', batch, () => decodeItems(toText(this.batches.reader.contents(batch).items)));
    return rows.filter(({ id }) => items[id % BATCH_SLOTS]?.[5] === release);
  }

  /** Returns the bodies of a batch, by position; undefined if no body can match. */
  private bodiesOf(search: CheckedSearch, batch: number): Buffer[] | undefined {
    const { bodies, joined } = this.batches.reader.decode(batch);
    const isPossible = mayMatch(search, Buffer.from(joined.buffer, joined.byteOffset, joined.byteLength));
    return isPossible ? bodies : undefined;
  }
}

interface Step {
  from: number;
  rows: DeliveryRow[];
  batches: Set<number>;
}

/** Whether the last attempt had the status of a search. Attempts are parsed only if they have it somewhere. */
function hasStatus(search: CheckedSearch, { attempts }: DeliveryRow): boolean {
  if (search.status === undefined) return true;
  return (
    attempts.includes(`"status":${search.status}`) && matchesAttempt(search, JSON.parse(attempts) as AttemptRecord[])
  );
}

/** A condition with its values. */
type Condition = [sql: string, ...values: string[]];

const ANY: Condition = ['true'];

/** Returns the condition on rows for which an index has the order of ids. */
function rowsIn({ destination, state }: CheckedQuery): Condition {
  if (state === undefined) return ANY;
  return destination === undefined ? ['state = ?', state] : ['state = ? AND destination = ?', state, destination];
}

/** As {@link rowsIn}, of batches. */
function batchesIn({ destination, state }: CheckedQuery): Condition {
  const letter = state && BATCH_STATES[state];
  return destination === undefined || !letter ? ANY : ['destination = ? AND state = ?', destination, letter];
}

/** Whether items may have one of the ids, if given, in a column. Rows are compared in full later. */
function hasId(blob: Uint8Array, column: 0 | 1, ids: ReadonlySet<string> | undefined): boolean {
  if (ids === undefined) return true;
  const items = toText(blob);
  if (ids.size > MAX_SEARCHED_IDS) return decodeItems(items).some((item) => ids.has(item?.[column] ?? ''));
  return Array.from(ids, (id) => JSON.stringify(id)).some((id) => items.includes(id));
}
