import { IdHash, type IdKey } from './id.hash.js';
import { IdTable } from './id.table.js';

/** Messages of one destination and source that were accepted together. */
export interface AcceptedMessages {
  /** Greater than that of any accepted before. */
  batch: number;
  destination: string;
  source: string;
  messageIds: string[];
}

/**
 * Finds messages that were accepted before, at a cost that depends on no id: one is known by 64 bits of a keyed hash, and
 * never compared. Beside a million others, a new message is taken for one of them once in 2^44 (10^13) times.
 */
export class AcceptedIds {
  private readonly hash = new IdHash();
  private readonly table = new IdTable();

  /**
   * Adds the messages that are new; answers with the positions of the others, in ascending order.
   * @param since the first batch that is not forgotten, where that is after those of `forgetUpTo`
   */
  add(messages: AcceptedMessages, since?: number): number[] {
    const { batch, messageIds } = messages;
    const { hash, table } = this;
    const start = this.startOf(messages);
    const repeated: number[] = [];
    for (let position = 0; position < messageIds.length; position++) {
      hash.update(messageIds[position]!, start);
      if (!table.addNew(hash, batch, since)) repeated.push(position);
    }
    return repeated;
  }

  /** Makes room for a number of messages, before any is added. */
  reserve(count: number): void {
    this.table.reserve(count);
  }

  /** Adds messages that are known to be new. */
  restore(messages: AcceptedMessages): void {
    const start = this.startOf(messages);
    for (const messageId of messages.messageIds) {
      this.hash.update(messageId, start);
      this.table.add(this.hash, messages.batch);
    }
  }

  /** Undoes that messages were added, those of them that were new. */
  remove(messages: AcceptedMessages): void {
    const start = this.startOf(messages);
    for (const messageId of messages.messageIds) {
      this.hash.update(messageId, start);
      this.table.remove(this.hash, messages.batch);
    }
  }

  /** Forgets all batches up to this one. */
  forgetUpTo(batch: number): void {
    this.table.forgetBefore(batch + 1);
  }

  private startOf({ destination, source }: AcceptedMessages): IdKey {
    this.hash.update(JSON.stringify([destination, source]));
    const { first, second } = this.hash;
    return { first, second };
  }
}
