import { IdHash } from './id.hash.cjs';
import { IdTable } from './id.table.cjs';

/** Messages of one destination and source that were accepted together. */
export interface AcceptedMessages {
  /** Greater than that of any accepted before. */
  batch: number;
  destination: string;
  source: string;
  messageIds: string[];
}

/** Finds messages that were accepted before. Where the ids themselves lie is up to the engine. */
export class AcceptedIds {
  private readonly hash = new IdHash();
  private readonly table = new IdTable();

  /**
   * Adds the messages that are new; answers with the positions of the others, in ascending order.
   * @param has tells whether the messageId of this destination and source is in a batch before this one
   */
  add(messages: AcceptedMessages, has: (batch: number, messageId: string) => boolean): number[] {
    const { batch, messageIds } = messages;
    const start = this.startOf(messages);
    const repeated: number[] = [];
    for (let position = 0; position < messageIds.length; position++) {
      const messageId = messageIds[position]!;
      const hash = this.hash.hash(messageId, start);
      if (this.table.addNew(hash, batch)) continue;
      const isRepeated =
        messageIds.indexOf(messageId) < position ||
        this.table.batchesOf(hash).some((other) => other !== batch && has(other, messageId));
      if (isRepeated) repeated.push(position);
      else this.table.add(hash, batch);
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
    for (const messageId of messages.messageIds) this.table.add(this.hash.hash(messageId, start), messages.batch);
  }

  /** Undoes that messages were added, those of them that were new. */
  remove(messages: AcceptedMessages): void {
    const start = this.startOf(messages);
    for (const messageId of messages.messageIds) this.table.remove(this.hash.hash(messageId, start), messages.batch);
  }

  /** Forgets all batches up to this one. */
  forgetUpTo(batch: number): void {
    this.table.forgetBefore(batch + 1);
  }

  private startOf({ destination, source }: AcceptedMessages): number {
    return this.hash.hash(source, this.hash.hash(destination));
  }
}
