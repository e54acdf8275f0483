import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { BODY_FIELDS } from '../routing/webhook.body.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';
import { memberOf, type PostedMessage, toFieldJson } from './posted.message.js';
import type { SharedField } from './shared.field.js';

/** Fields that a batch may lend to its messages. */
export const SHARED_FIELDS = ['context', 'integrations'] as const;

type SharedName = (typeof SHARED_FIELDS)[number];

/** What a batch lends; a message is not too deep because of it. */
export type SharedFields = Partial<Record<SharedName, SharedField>>;

/** A message of a batch that lends fields. */
export class MergedMessage implements PostedMessage {
  readonly isAscii = false;
  readonly value: Record<string, unknown>;

  constructor(
    private readonly own: Record<string, unknown>,
    private readonly shared: SharedFields,
  ) {
    // Of what is lent only the JSON goes on.
    this.value = { ...own, context: own.context ?? shared.context?.value };
  }

  isTooDeep(): boolean {
    return isDeeperThan(this.own, MAX_DEPTH);
  }

  isTooLarge(): boolean {
    let size = Buffer.byteLength(JSON.stringify({ ...this.own, context: undefined, integrations: undefined }));
    for (const field of SHARED_FIELDS) {
      const merged = this.mergedSize(field);
      if (merged > 0) size += `,"${field}":`.length + merged;
    }
    return size > MAX_MESSAGE_BYTES;
  }

  json(place: number): string | undefined {
    const field = BODY_FIELDS[place]!;
    const value = this.own[field];
    const shared = field === 'context' ? this.shared.context : undefined;
    if (!shared) return toFieldJson(value);
    return isPlainObject(value) ? shared.mergeJson(value) : shared.json;
  }

  integration(name: string): unknown {
    return memberOf(this.own.integrations, name) ?? memberOf(this.shared.integrations?.value, name);
  }

  private mergedSize(field: SharedName): number {
    const own = this.own[field];
    const shared = this.shared[field];
    if (shared && isPlainObject(own)) return shared.mergedSize(own);
    if (shared && (own === undefined || own === null)) return shared.size;
    return Buffer.byteLength(toFieldJson(own) ?? '');
  }
}
