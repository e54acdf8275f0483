import type { IncomingMessage, ServerResponse } from 'node:http';

import { Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { QUEUE_UNAVAILABLE } from '../../common/relay.errors.js';
import type { IngestOptions } from './ingest.options.js';
import { isQueueFull } from '../queue/queue-full.error.js';
import { parseBody, readBody } from './body.reader.js';
import { CorsPolicy } from './cors.policy.js';
import { RequestError, QUEUE_RETRY_AFTER } from './request.error.js';
import type { IngestRoute } from './ingest.routes.js';
import type { MessageAcceptor } from './message.acceptor.js';
import { readPostedBody } from './posted-body.js';
import { answerError, answerJson } from './json-answer.js';
import { admitRequest } from './pipelining-limit.js';
import { RequestAdmission } from './request.admission.js';
import { cacheSettings, createSettings } from './sdk-settings.js';
import type { SourceRegistry } from './source.registry.js';
import { readKeyOfHeader } from './write-key-header.util.js';

const SUCCESS = { success: true };

/** Number of rejected messages that an answer explains: it must not become many times the request. */
const MAX_EXPLAINED = 100;

/** A request that was refused as a whole. */
export interface Refusal {
  /** Name of the source with the request's key; undefined if there is none. */
  source?: string | undefined;
  /** Code of the rule that the request broke. */
  code: string;
}

/** Authenticates requests of SDKs, accepts their messages, and answers with the result. */
export class IngestEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationIngest');
  private readonly admission: RequestAdmission;
  private closing = false;
  /** Decides which web pages may post; undefined if none may. */
  readonly cors: CorsPolicy | undefined;
  /** Emits refused requests; costs nothing without subscribers. */
  readonly refused$ = new Subject<Refusal>();

  constructor(
    readonly sources: SourceRegistry,
    private readonly acceptor: MessageAcceptor,
    private readonly options: IngestOptions,
    private readonly refusals?: { reject(code: string): void },
  ) {
    this.cors = options.cors === false ? undefined : new CorsPolicy(options.cors);
    this.admission = new RequestAdmission(sources, options);
  }

  /** Ends each connection with its next answer, because a busy client would keep the closing server open. */
  close(): void {
    this.closing = true;
    this.logger.end();
  }

  /** Handles a POST to a route. Never rejects. */
  handle(route: IngestRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.answer(request, response, (sender) => this.take(route, request, sender));
  }

  /** Handles a GET of the settings of an SDK. Never rejects. */
  handleSettings(writeKey: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.answer(request, response, () => {
      this.admission.authenticate(writeKey, request, 404);
      cacheSettings(response);
      return createSettings(writeKey, this.options, request, this.admission.isBehindProxy(request));
    });
  }

  private async answer(
    request: IncomingMessage,
    response: ServerResponse,
    work: (sender: Pick<Refusal, 'source'>) => object | Promise<object>,
  ): Promise<void> {
    if (!admitRequest(request, response)) return;
    this.cors?.apply(request, response);
    const sender: Pick<Refusal, 'source'> = {};
    try {
      const answer = await work(sender);
      if (response.headersSent) return; // an interceptor gave the request up
      this.endConnection(response);
      if (answer instanceof RequestError) answerError(request, response, answer);
      else answerJson(request, response, 200, answer);
    } catch (error) {
      this.endConnection(response);
      const refusal = this.toRequestError(error);
      if (refusal === error) this.refusals?.reject(refusal.code); // otherwise the acceptor has counted it
      this.refused$.next({ ...sender, code: refusal.code });
      if (response.headersSent) return;
      answerError(request, response, refusal);
    }
  }

  private endConnection(response: ServerResponse): void {
    if (this.closing) response.shouldKeepAlive = false;
  }

  /**
   * Resolves with the answer. A rejected message is part of an answer, and was counted when it was found.
   * @param sender receives the source once it is known
   */
  private async take(route: IngestRoute, request: IncomingMessage, sender: Pick<Refusal, 'source'>): Promise<object> {
    if (route === 'metrics') {
      this.admission.admitKeyless(request);
      parseBody(await readBody(request));
      return SUCCESS;
    }
    // A key in the header is checked before the body is read.
    const key = readKeyOfHeader(request.headers.authorization);
    const known = key === undefined ? undefined : this.sourceOf(key, request, sender);
    const { writeKey, sentAt, messages } = readPostedBody(route, await readBody(request));
    // Mobile SDKs send the key only in the body.
    const source =
      known ?? this.sourceOf(typeof writeKey === 'string' && writeKey ? writeKey : undefined, request, sender);

    const { rejected } = await this.acceptor.accept(source, messages(), sentAt);
    const [first] = rejected;
    if (first && route !== 'batch') return new RequestError(400, first.code, first.message, first.field);
    if (!first) return SUCCESS;
    if (rejected.length <= MAX_EXPLAINED) return { ...SUCCESS, rejected };
    const others = rejected.slice(MAX_EXPLAINED).map(({ index }) => index);
    return { ...SUCCESS, rejected: rejected.slice(0, MAX_EXPLAINED), moreRejected: others };
  }

  private sourceOf(key: string | undefined, request: IncomingMessage, sender: Pick<Refusal, 'source'>): string {
    const source = this.admission.authenticate(key, request);
    sender.source = source;
    this.admission.admit(source, request);
    return source;
  }

  private toRequestError(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    // The queue itself logs when it becomes full.
    if (!isQueueFull(error)) this.logger.limited('error', `Messages could not be queued: ${errorMessage(error)}`);
    const message = `the queue is not accepting messages; try again in ${QUEUE_RETRY_AFTER} s`;
    return new RequestError(503, QUEUE_UNAVAILABLE, message, undefined, QUEUE_RETRY_AFTER);
  }
}
