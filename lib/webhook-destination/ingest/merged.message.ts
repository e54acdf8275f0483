import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { BODY_FIELDS } from '../routing/webhook.body.js';
import { isDeeperThan, MAX_DEPTH } from './message.depth.js';
import { type PostedMessage, toFieldJson } from './posted.message.js';
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
    const { context, integrations } = own;
    this.value = {
      ...own,
      // Only its JSON goes on.
      context: context ?? shared.context?.value,
      integrations: isPlainObject(integrations)
        ? (shared.integrations?.merge(integrations) ?? integrations)
        : (integrations ?? shared.integrations?.value),
    };
  }

  isTooDeep(): boolean {
    return isDeeperThan(this.own, MAX_DEPTH);
  }

  isTooLarge(): boolean {
    let size = Buffer.byteLength(JSON.stringify({ ...this.own, context: undefined, integrations: undefined }));
    for (const field of SHARED_FIELDS) {
      const json = this.mergedJson(field);
      if (json !== undefined) size += Buffer.byteLength(`,"${field}":`) + Buffer.byteLength(json);
    }
    return size > MAX_MESSAGE_BYTES;
  }

  json(place: number): string | undefined {
    const field = BODY_FIELDS[place]!;
    return field === 'context' ? this.mergedJson(field) : toFieldJson(this.value[field]);
  }

  private mergedJson(field: SharedName): string | undefined {
    const own = this.own[field];
    const shared = this.shared[field];
    if (shared && (own === undefined || own === null)) return shared.json;
    return shared && isPlainObject(own) ? shared.mergeJson(own) : toFieldJson(own);
  }
}
