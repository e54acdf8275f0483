import { isPlainObject } from '../../client/message/message.rules.js';
import { RelayError } from '../../client/relay.error.js';
import { toJsonText } from '../http/body.reader.js';
import { RequestError } from '../http/request.error.js';
import type {
  KeptRefusals,
  RefusalReason,
  ResubmissionRequest,
  ResubmissionResult,
  WholeRefusal,
} from '../queue/kept-refusals.js';
import { findPostedFault } from './accepted-message.js';
import type { MessageRoute } from './ingest.routes.js';
import type { MessageAcceptor } from './message.acceptor.js';
import { ParsedMessage } from './parsed-message.js';
import { readPostedBody } from './posted-body.js';
import type { PostedMessage } from './posted-message.interface.js';
import { toSender } from './sender.js';

/** Messages that are read and sent again together. */
const PORTION = 25;

/** Maximum number of messages that are sent again for one call. */
export const MAX_RESUBMITTED = 1_000;

/** Why a message was not accepted now either; undefined if it was. */
type NewReason = RefusalReason | 'as before' | undefined;

/** Sends refused messages through the ingest of their source again. */
export class Resubmission {
  /** One at a time: of two at once, both would send the same messages. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly sources: { has(name: string): boolean },
    private readonly acceptor: MessageAcceptor,
    private readonly refusals: KeptRefusals,
  ) {}

  /**
   * Resolves once those that are accepted now are stored durably; they are no longer kept as refused. If it rejects, the
   * others are still kept.
   *
   * @throws {RelayError} `source_unknown`
   * @throws {RequestError} 409 with nothing sent, if another number matches than expected
   */
  run(request: ResubmissionRequest): Promise<ResubmissionResult> {
    const run = this.last.then(() => this.resubmit(request));
    this.last = run.catch(() => undefined);
    return run;
  }

  private async resubmit({
    source,
    ids: given,
    expected,
    ...filter
  }: ResubmissionRequest): Promise<ResubmissionResult> {
    if (!this.sources.has(source)) throw new RelayError('source_unknown', `source "${source}" does not exist`);
    const ids = given ?? (await this.refusals.ids(source, filter));
    if (!given && ids.length !== expected) {
      const rule = `expected must be the number of refused messages that match, which is ${ids.length}`;
      throw new RequestError('expected_differs', rule, 'expected');
    }
    const result = { accepted: 0, refused: 0, left: Math.max(0, ids.length - MAX_RESUBMITTED) };
    for (let start = 0; start < Math.min(ids.length, MAX_RESUBMITTED); start += PORTION) {
      await this.send(source, ids.slice(start, Math.min(start + PORTION, MAX_RESUBMITTED)), result);
    }
    return result;
  }

  private async send(source: string, ids: string[], result: ResubmissionResult): Promise<void> {
    const refusals = (await this.refusals.read(source, ids)).reverse();
    const ends = await Promise.allSettled(refusals.map((refusal) => this.sendOne(source, refusal)));
    const accepted: string[] = [];
    const reasons = new Map<string, RefusalReason>();
    for (const [index, end] of ends.entries()) {
      if (end.status === 'rejected') continue;
      const { id } = refusals[index]!;
      if (end.value === undefined) accepted.push(id);
      else {
        result.refused++;
        if (end.value !== 'as before') reasons.set(id, end.value);
      }
    }
    await this.refusals.remove(source, accepted);
    await this.refusals.setReasons(source, reasons);
    result.accepted += accepted.length;
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Rejects if the queue cannot store it. */
  private async sendOne(source: string, refusal: WholeRefusal): Promise<NewReason> {
    const { at: receivedAt, sentAt: posted, userAgent, isWhole } = refusal;
    if (!isWhole) return 'as before';
    let sentAt: unknown = posted;
    let messages: PostedMessage[];
    try {
      if (refusal.route === undefined) messages = [readMessage(refusal)];
      else {
        const body = readPostedBody(refusal.route as MessageRoute, toJsonText(Buffer.from(refusal.text)));
        ({ sentAt } = body);
        messages = body.messages();
      }
    } catch (error) {
      if (error instanceof RequestError) {
        const { code, field = 'body', message } = error;
        return { code, field, message };
      }
      throw error;
    }
    // A request may have messages of both kinds: those that are refused are then kept by themselves.
    const [fault] = messages.length === 1 ? [findPostedFault(messages[0]!)] : [];
    if (fault) return fault;
    await this.acceptor.accept(source, messages, { sentAt, receivedAt, sender: { ...toSender(undefined), userAgent } });
    return undefined;
  }
}

/** Returns a message with an id, so that it is not delivered twice if this process ends before it is removed. */
function readMessage({ id, text }: WholeRefusal): PostedMessage {
  const value: unknown = JSON.parse(text);
  return new ParsedMessage(
    isPlainObject(value) && (value.messageId ?? '') === '' ? { ...value, messageId: id } : value,
  );
}
