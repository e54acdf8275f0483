import { randomUUID } from 'node:crypto';

import { MESSAGE_TYPES, type MessageType } from '../../client/message/message.interface.js';
import { MAX_MESSAGE_BYTES } from '../../client/message/message.limits.js';
import {
  findMessageFault,
  isMessageType,
  isPlainObject,
  isWireTimestamp,
  type MessageFault,
  parseTimestamp,
} from '../../client/message/message.rules.js';
import { toPostedTrace, toTraceText } from '../../client/telemetry/trace-context.js';
import type { RoutableMessage } from '../routing/destination.router.js';
import type { BodyField } from '../routing/webhook-body.util.js';
import { MAX_DEPTH, type PostedMessage } from './posted-message.interface.js';
import { JsonScanner } from './scan/json-scanner.js';

/** Maximum length of the stored name of a recorder, in characters. */
const MAX_RECORDER_LENGTH = 200;

const TRACEPARENT = 'traceparent';
const TRACESTATE = 'tracestate';

// One search by a regular expression takes a ninth of the time of two by `includes`.
const HAS_TRACE = /"trace(?:parent|state)":/;

/** Returns the rule that a posted message breaks; undefined if it breaks none. */
export function findPostedFault(posted: PostedMessage): MessageFault | undefined {
  const { value } = posted;
  if (!isPlainObject(value)) {
    return { field: 'message', code: 'message_not_object', message: 'a message must be an object' };
  }
  if (!isMessageType(value.type)) {
    return { field: 'type', code: 'type_unknown', message: `type must be one of ${MESSAGE_TYPES.join(', ')}` };
  }
  return findSizeFault(posted) ?? findMessageFault(value.type, value);
}

function findSizeFault(posted: PostedMessage): MessageFault | undefined {
  const field = 'message';
  try {
    if (posted.isTooDeep()) {
      const message = `a message must not be nested deeper than ${MAX_DEPTH} levels`;
      return { field, code: 'message_too_deep', message };
    }
    if (!posted.isTooLarge()) return undefined;
    return { field, code: 'message_too_large', message: `a message must not exceed ${MAX_MESSAGE_BYTES} bytes` };
  } catch {
    // A message made in this process may contain a BigInt, or code that throws; a posted one, NaN or Infinity.
    return { field, code: 'message_not_json', message: 'a message must be JSON, which has no NaN, Infinity or BigInt' };
  }
}

/** The application that recorded a message in this process. */
export interface Recording {
  release: string | undefined;
}

/** A valid message. `null` and empty strings count as absent. */
export class AcceptedMessage implements RoutableMessage {
  readonly type: MessageType;
  readonly messageId: string;
  readonly userId: string | undefined;
  readonly trace: string | undefined;
  readonly recordedBy: string | undefined;
  readonly release: string | undefined;
  body: Buffer | undefined = undefined;
  private readonly fields: Record<string, unknown>;
  /** JSON of the message's context, without the trace. */
  private readonly context: string | undefined;

  /**
   * @param sentAt when the sender posted the message, by its own clock
   * @param recording given if it was recorded in this process, so that its trace is the application's
   */
  constructor(
    private readonly posted: PostedMessage,
    private readonly receivedAt: number,
    private readonly sentAt?: unknown,
    recording?: Recording,
  ) {
    this.fields = posted.value as Record<string, unknown>;
    const { type, messageId, userId } = this.fields;
    this.type = type as MessageType;
    this.messageId = (messageId as string | null | undefined) || randomUUID();
    this.userId = (userId as string | null | undefined) || undefined;
    const context = posted.json('context');
    const traced = takeTrace(context);
    this.trace = traced?.trace && !recording ? toPostedTrace(traced.trace) : traced?.trace;
    this.recordedBy = recorderIn(posted.json('_metadata'));
    this.release = recording?.release;
    this.context = traced ? traced.context : context;
  }

  get event(): string | undefined {
    return this.type === 'track' ? (this.fields.event as string) : undefined;
  }

  json(field: BodyField): string | undefined {
    if (field === 'timestamp' && !isWireTimestamp(this.fields.timestamp)) return JSON.stringify(this.timestamp());
    if (field === 'context') return this.context;
    return this.posted.json(field);
  }

  integration(name: string): unknown {
    return this.posted.integration(name);
  }

  /**
   * Returns the message's own timestamp; else `originalTimestamp`, corrected for the sender's clock if `sentAt` is
   * given; else the time of receipt.
   */
  private timestamp(): Date {
    const { timestamp, originalTimestamp } = this.fields;
    const own = parseTimestamp(timestamp);
    if (own) return own;
    const original = parseTimestamp(originalTimestamp);
    const sent = parseTimestamp(this.sentAt);
    const receipt = new Date(this.receivedAt);
    if (!original || !sent) return receipt;
    return parseTimestamp(new Date(this.receivedAt - (sent.getTime() - original.getTime()))) ?? receipt;
  }
}

/**
 * Returns the method or route that recorded a message, from its `_metadata`.
 *
 * @param json as returned by `PostedMessage.json`
 * @returns undefined if `_metadata` does not name one; most metadata is not parsed
 */
function recorderIn(json: string | undefined): string | undefined {
  if (json === undefined || !json.includes('"recordedBy":"')) return undefined;
  const { recordedBy } = JSON.parse(Buffer.from(json, 'latin1').toString()) as { recordedBy?: unknown };
  return typeof recordedBy === 'string' && recordedBy !== '' ? recordedBy.slice(0, MAX_RECORDER_LENGTH) : undefined;
}

/** Position of a member in JSON, from its key's quote to its end, and where its value starts. */
interface Span {
  key: number;
  value: number;
  end: number;
}

/**
 * Finds members of an object without parsing it: the `context` of a batch, merged into thousands of messages, may have
 * hundreds of others.
 */
class MemberFinder extends JsonScanner {
  private readonly found = new Map<string, Span>();

  constructor(private readonly json: string) {
    super(Buffer.from(json, 'latin1'));
    this.object(0, 1);
  }

  get(name: string): unknown {
    const span = this.found.get(name);
    return span && JSON.parse(this.json.slice(span.value, span.end));
  }

  /** Returns the JSON without these members. */
  without(names: string[]): string {
    const spans = names.flatMap((name) => this.found.get(name) ?? []).sort((one, other) => other.key - one.key);
    return spans.reduce((json, { key, end }) => {
      const isFirst = json[key - 1] === '{';
      return json.slice(0, isFirst ? key : key - 1) + json.slice(isFirst && json[end] === ',' ? end + 1 : end);
    }, this.json);
  }

  protected recordMember(_hash: number, key: number, keyEnd: number, value: number, end: number): void {
    if (keyEnd - key !== TRACEPARENT.length && keyEnd - key !== TRACESTATE.length) return;
    this.found.set(this.json.slice(key, keyEnd), { key: key - 1, value, end });
  }
}

/**
 * Removes `traceparent` and `tracestate` from the JSON of a context, because they are not for receivers. The trace is in
 * the format of `NewDelivery`; undefined if it is not recorded.
 *
 * @param json as `PostedMessage.json` returns it: written by `JSON.stringify`, with its UTF-8 bytes as Latin-1
 * @returns undefined if it has neither; most do not and are not searched
 */
export function takeTrace(json: string | undefined): { context: string; trace: string | undefined } | undefined {
  if (json?.[0] !== '{' || !HAS_TRACE.test(json)) return undefined;
  const members = new MemberFinder(json);
  const context = members.without([TRACEPARENT, TRACESTATE]);
  return { context, trace: toTraceText(members.get(TRACEPARENT), members.get(TRACESTATE)) };
}
