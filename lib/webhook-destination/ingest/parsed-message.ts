import type { MessageType } from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import { isDeeperThan, MAX_DEPTH } from './json-depth.util.js';
import type { PostedMessage, TextField } from './posted-message.interface.js';

/** How much longer JSON gets at most when it is written anew: `1e20` becomes 21 digits. */
const MAX_GROWTH = 21 / 4;

/** The `integrations` of a batch, for all its messages. */
export interface SharedIntegrations {
  value: Record<string, unknown>;
  /** Size of their JSON. */
  bytes: number;
}

interface ParsedMessageOptions {
  /** Most bytes that it had when it was posted. */
  size?: number;
  /** Its type, whatever it says itself. */
  type?: MessageType;
  /** JSON of its own context, merged with that of its batch. */
  context?: string | undefined;
  /** What its batch sets for all messages; the message's own members take precedence. */
  integrations?: SharedIntegrations | undefined;
}

/** A message that was parsed, or that was made in this process. */
export class ParsedMessage implements PostedMessage {
  readonly value: unknown;
  private readonly fields: Record<string, unknown>;
  private readonly size: number;
  private readonly context: string | undefined;
  private readonly shared: SharedIntegrations | undefined;

  constructor(posted: unknown, { size = Infinity, type, context, integrations }: ParsedMessageOptions = {}) {
    this.fields = posted as Record<string, unknown>;
    this.value = type ? { ...this.fields, type } : posted;
    this.context = context;
    this.size = size;
    this.shared = integrations;
  }

  isTooDeep(): boolean {
    return isDeeperThan(this.fields, MAX_DEPTH);
  }

  isTooLarge(): boolean {
    if (this.size * MAX_GROWTH <= MAX_MESSAGE_BYTES) return false;
    const own = this.context === undefined ? this.fields : { ...this.fields, context: undefined };
    let size = Buffer.byteLength(JSON.stringify(own));
    if (this.context !== undefined) size += `,"context":`.length + Buffer.byteLength(this.context);
    if (this.shared && this.fields.integrations == null) size += `,"integrations":`.length + this.shared.bytes;
    return size > MAX_MESSAGE_BYTES;
  }

  json(field: TextField): string | undefined {
    if (field === 'context' && this.context !== undefined) return toLatin1(this.context);
    const value = this.fields[field];
    const json = value === null || value === '' ? undefined : JSON.stringify(value);
    return json === undefined ? undefined : toLatin1(json);
  }

  integration(name: string): unknown {
    return memberOf(this.fields.integrations, name) ?? memberOf(this.shared?.value, name);
  }
}

/** The bytes of a text in UTF-8, as Latin-1. */
function toLatin1(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length === text.length ? text : bytes.toString('latin1');
}

/** An object's own value for a name; undefined for anything else. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
