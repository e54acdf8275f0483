import type { IncomingMessage, ServerResponse } from 'node:http';

import { CallerQuota, type CountedCaller, type QuotaShare } from './caller.quota.js';
import { RequestError } from './request.error.js';

const MB = 1024 * 1024;

/** Memory that a request may use until its answer is known, in bytes: its body, what is read, and a usual answer. */
const REQUEST_BYTES = MB;

/** Maximum size of an answer, in bytes. */
const MAX_ANSWER = 8 * MB;

/** Bytes of requests in progress and of unread answers: 16 requests of a caller, 64 of all. */
const LIMITS = { each: 16 * MB, readers: 48 * MB, all: 64 * MB };

/** Time that a caller has to read an answer, in ms. */
const READ_TIME = 30_000;

/** Limits the requests in progress and the answers that have not been read, in bytes. */
export class AnswerLimit {
  private readonly quota = new CallerQuota(LIMITS);

  /** @throws {RequestError} 429 if the caller, or all together, have too much in progress */
  begin(caller: CountedCaller): QuotaShare {
    return this.quota.take(caller, REQUEST_BYTES) ?? refuse();
  }

  /**
   * Serializes an answer.
   *
   * @throws {RequestError} 429 if it has no room beside the others, 400 if it never has
   */
  toJson(answer: object, share: QuotaShare | undefined): string {
    const json = JSON.stringify(answer);
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_ANSWER) {
      throw new RequestError('answer_too_large', `the answer would exceed ${MAX_ANSWER / MB} MB; ask for less`);
    }
    return share?.resize(bytes) === false ? refuse() : json;
  }

  /** Releases the share of a request once its answer has been read, or the caller has left. Called after the answer. */
  end(share: QuotaShare, { socket }: IncomingMessage, response: ServerResponse): void {
    if (response.destroyed || response.writableFinished) return share.release();
    const release = () => {
      clearTimeout(timer);
      share.release();
    };
    // An answer behind another one on its connection has no event if the connection ends: the timer releases its share.
    const timer = setTimeout(() => {
      socket?.destroy();
      release();
    }, READ_TIME).unref();
    response.once('finish', release).once('close', release);
  }
}

function refuse(): never {
  const rule = 'too many requests or unread answers of the caller, or of all callers, are in progress; try again later';
  throw new RequestError('too_many_in_progress', rule);
}
