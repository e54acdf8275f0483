import { randomInt } from 'node:crypto';

import type Database from 'libsql';

import type { RetentionBound } from '../retention.options.js' with { 'resolution-mode': 'import' };

/** Batches that are forgotten together. */
const SLICE = 100;

/** By what part of it the bound of their number may be passed, so that not each batch makes another be forgotten. */
const SLACK = 1 / 64;

/** The messages of a batch of one destination and source. */
export interface AcceptedMessages {
  batch: number;
  destination: string;
  source: string;
  messageIds: string[];
}

interface AcceptedRow {
  batch: number;
  accepted_at: number;
  destination: string;
  source: string;
  message_ids: string;
}

/**
 * Remembers which messages were accepted. The file holds their ids in the order in which they came, since an index in
 * it would cost a page for each id; memory holds the batches in which an id may be, by a hash of it.
 */
export class AcceptedTable {
  private readonly batches = new Map<number, number | number[]>();
  /** Ids in the file. */
  private count = 0;
  /** What the transaction under way has changed. */
  private changes: { messages: AcceptedMessages; isRemoved: boolean }[] = [];
  /** Nobody can send ids whose hashes are the same. */
  private readonly seed = randomInt(2 ** 31);
  private readonly statements;

  constructor(
    db: Database.Database,
    private readonly bound: Required<RetentionBound>,
  ) {
    this.statements = {
      insert: db.prepare('INSERT INTO accepted VALUES (?, ?, ?, ?, ?)'),
      read: db.prepare('SELECT * FROM accepted WHERE batch = ?'),
      all: db.prepare('SELECT * FROM accepted WHERE batch > ? ORDER BY batch LIMIT ?'),
      remove: db.prepare('DELETE FROM accepted WHERE batch = ?'),
    };
  }

  /** Reads what the file remembers, and forgets what is past its bounds. */
  recover(now: number): void {
    let last = 0;
    for (;;) {
      const rows = this.statements.all.all(last, SLICE) as AcceptedRow[];
      for (const row of rows) {
        this.keep(toMessages(row));
        last = row.batch;
      }
      if (rows.length < SLICE) break;
    }
    this.trim(now);
  }

  /** Remembers the messages of a batch; answers with the positions of those that were accepted before. */
  add(messages: AcceptedMessages, now: number): number[] {
    const { batch, destination, source, messageIds } = messages;
    const repeated: number[] = [];
    const added: string[] = [];
    for (const [position, messageId] of messageIds.entries()) {
      const hash = this.hash(messages, messageId);
      const known = this.batches.get(hash);
      const isRepeated =
        known !== undefined &&
        [known]
          .flat()
          .some((other) => (other === batch ? added.includes(messageId) : this.has(other, messages, messageId, now)));
      if (isRepeated) {
        repeated.push(position);
      } else {
        this.note(hash, batch);
        added.push(messageId);
      }
    }
    if (added.length === 0) return repeated;
    this.statements.insert.run(batch, now, destination, source, JSON.stringify(added));
    this.count += added.length;
    this.changes.push({ messages: { batch, destination, source, messageIds: added }, isRemoved: false });
    if (this.count > this.bound.count * (1 + SLACK)) this.trim(now);
    return repeated;
  }

  /** Forgets the oldest batches that are past a bound. */
  trim(now: number): void {
    for (;;) {
      const rows = this.statements.all.all(0, SLICE) as AcceptedRow[];
      for (const row of rows) {
        if (this.count <= this.bound.count && row.accepted_at > now - this.bound.age) return;
        const messages = toMessages(row);
        this.statements.remove.run(row.batch);
        this.drop(messages);
        this.changes.push({ messages, isRemoved: true });
      }
      if (rows.length < SLICE) return;
    }
  }

  commit(): void {
    this.changes = [];
  }

  /** Makes memory agree with the file again, whose changes were undone. */
  rollback(): void {
    for (const { messages, isRemoved } of this.changes.reverse()) {
      if (isRemoved) this.keep(messages);
      else this.drop(messages);
    }
    this.changes = [];
  }

  private keep(messages: AcceptedMessages): void {
    for (const messageId of messages.messageIds) this.note(this.hash(messages, messageId), messages.batch);
    this.count += messages.messageIds.length;
  }

  private drop(messages: AcceptedMessages): void {
    for (const messageId of messages.messageIds) {
      const hash = this.hash(messages, messageId);
      const left = [this.batches.get(hash) ?? []].flat().filter((other) => other !== messages.batch);
      if (left.length === 0) this.batches.delete(hash);
      else this.batches.set(hash, left);
    }
    this.count -= messages.messageIds.length;
  }

  /** Whether the file has the message in a batch, and not for too long. */
  private has(batch: number, { destination, source }: AcceptedMessages, messageId: string, now: number): boolean {
    const row = this.statements.read.get(batch) as AcceptedRow | undefined;
    return (
      row?.destination === destination &&
      row.source === source &&
      row.accepted_at > now - this.bound.age &&
      toMessages(row).messageIds.includes(messageId)
    );
  }

  private note(hash: number, batch: number): void {
    const known = this.batches.get(hash);
    this.batches.set(hash, known === undefined ? batch : [known, batch].flat());
  }

  /** 31 bits, so that it needs no memory of its own as a key. */
  private hash({ destination, source }: AcceptedMessages, messageId: string): number {
    let hash = this.seed;
    for (const text of [messageId, source, destination]) {
      for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    return hash & 0x7fffffff;
  }
}

function toMessages({ batch, destination, source, message_ids: messageIds }: AcceptedRow): AcceptedMessages {
  return { batch, destination, source, messageIds: JSON.parse(messageIds) as string[] };
}
