import type { MessageType } from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { isDeeperThan } from '../http/body.reader.js';
import { ID_FIELDS, MAX_DEPTH, type PostedMessage, type TextField } from './posted-message.interface.js';

/** Maximum factor by which JSON grows when it is serialized again: `1e20` becomes 21 digits. */
const MAX_GROWTH = 21 / 4;

/** The `integrations` of a batch, for all its messages. */
export interface SharedIntegrations {
  value: Record<string, unknown>;
  /** Size of their JSON, in bytes. */
  bytes: number;
}

interface ParsedMessageOptions {
  /** Upper bound of its posted size, in bytes. */
  size?: number;
  /** Overrides the message's own type. */
  type?: MessageType | undefined;
  /** JSON of its own context, merged with that of its batch. */
  context?: string | undefined;
  /** `integrations` of its batch; the message's own members take precedence. */
  integrations?: SharedIntegrations | undefined;
}

/** A message that was parsed, or made in this process. */
export class ParsedMessage implements PostedMessage {
  readonly value: unknown;
  private readonly fields: Record<string, unknown>;
  private readonly size: number;
  private readonly context: string | undefined;
  private readonly shared: SharedIntegrations | undefined;
  /** JSON of its fields, if their size was measured. */
  private texts: Map<string, string | undefined> | undefined;

  constructor(posted: unknown, { size = Infinity, type, context, integrations }: ParsedMessageOptions = {}) {
    const value = withTextIds(posted);
    this.fields = value as Record<string, unknown>;
    this.value = type ? { ...this.fields, type } : value;
    this.context = context;
    this.size = size;
    this.shared = integrations;
  }

  isTooDeep(): boolean {
    return isDeeperThan(this.fields, MAX_DEPTH);
  }

  isTooLarge(): boolean {
    if (this.size * MAX_GROWTH <= MAX_MESSAGE_BYTES) return false;
    const texts = (this.texts = new Map<string, string | undefined>());
    let size = '{'.length;
    if (this.context !== undefined) size += `,"context":`.length + Buffer.byteLength(this.context);
    if (this.shared && this.fields.integrations == null) size += `,"integrations":`.length + this.shared.bytes;
    for (const [name, value] of Object.entries(this.fields)) {
      if (name === 'context' && this.context !== undefined) continue;
      const text = JSON.stringify(value) as string | undefined;
      texts.set(name, text);
      if (text !== undefined) size += Buffer.byteLength(JSON.stringify(name)) + ':,'.length + Buffer.byteLength(text);
      if (size > MAX_MESSAGE_BYTES) return true;
    }
    return false;
  }

  json(field: TextField): string | undefined {
    if (field === 'context' && this.context !== undefined) return toLatin1(this.context);
    const value = this.fields[field];
    const json = value === null || value === '' ? undefined : (this.texts?.get(field) ?? JSON.stringify(value));
    return json === undefined ? undefined : toLatin1(json);
  }

  integration(name: string): unknown {
    return memberOf(this.fields.integrations, name) ?? memberOf(this.shared?.value, name);
  }

  whole(): unknown {
    if (!isPlainObject(this.value)) return this.value;
    const context = this.context === undefined ? this.fields.context : (JSON.parse(this.context) as unknown);
    const own = this.fields.integrations;
    const integrations = this.shared && (own == null || isPlainObject(own)) ? { ...this.shared.value, ...own } : own;
    return { ...this.value, context, integrations };
  }
}

/** Returns a message with text in place of integers in its ids: many SDKs send database keys as numbers. */
function withTextIds(posted: unknown): unknown {
  if (!isPlainObject(posted)) return posted;
  const numeric = ID_FIELDS.filter((field) => Number.isSafeInteger(posted[field]));
  if (numeric.length === 0) return posted;
  return { ...posted, ...Object.fromEntries(numeric.map((field) => [field, String(posted[field])])) };
}

/** Returns the UTF-8 bytes of a text as Latin-1. */
export function toLatin1(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length === text.length ? text : bytes.toString('latin1');
}

/** Returns an object's own value for a name; undefined for any other value. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
