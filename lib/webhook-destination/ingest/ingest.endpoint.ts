import type { IncomingMessage, ServerResponse } from 'node:http';

import type { HttpAdapterHost } from '@nestjs/core';
import { Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { OptionsError } from '../../common/options.error.js';
import { admitRequest, answerError, answerJson } from '../http/answer.util.js';
import { parseBody, readBody, type RequestBody } from '../http/body.reader.js';
import { CorsPolicy } from '../http/cors.policy.js';
import { claimPath, HttpMount, pathOf, type RequestHandler, singleSlashes } from '../http/http.mount.js';
import { QUEUE_RETRY_AFTER, RequestError } from '../http/request.error.js';
import type { ControllerRoute } from '../http/route.controller.js';
import type { IngestOptions } from './ingest.options.js';
import type { Refusal } from './ingest.result.js';
import { type Sender, toSender } from './sender.js';
import { type IngestRoute, ingestRoutes } from './ingest.routes.js';
import type { MessageAcceptor } from './message.acceptor.js';
import { readPostedBody } from './posted-body.js';
import { readKeyOfHeader, RequestAdmission } from './request.admission.js';
import { cacheSettings, createSettings, type SettingsRequest, settingsPaths } from './sdk-settings.js';
import type { SourceRegistry } from './source.registry.js';

const SUCCESS = { success: true };

/** Number of rejected messages that an answer explains: it must not become many times the request. */
const MAX_EXPLAINED = 100;

/** What a request is for: a route, the settings of an SDK, or a preflight of either. */
type Found = IngestRoute | SettingsRequest | 'preflight';

/** What is known of a request, as far as it has been read. */
interface Posting {
  source?: string;
  sender?: Sender;
  body?: RequestBody | undefined;
}

/**
 * Authenticates requests of SDKs, accepts their messages, and answers with the result. By default, requests reach it
 * before the application's body parsers, because SDKs post to fixed paths, in their own sizes and content types.
 */
export class IngestEndpoint implements RequestHandler<Found> {
  private readonly logger = new LimitedLogger('WebhookDestinationIngest');
  private readonly admission: RequestAdmission;
  private readonly mount: HttpMount<Found>;
  /** Which web pages may post; undefined if none may. */
  private readonly cors: CorsPolicy | undefined;
  /** Route of each path, with and without a trailing slash. */
  private readonly paths: Map<string, IngestRoute>;
  private readonly findSettings: ReturnType<typeof settingsPaths>;
  private closing = false;
  readonly routes: ControllerRoute[];
  /** Those of the controller, which Express would find behind the application's middleware before the mount. */
  readonly controllerRoutes: ControllerRoute[];
  /** Emits refused requests; costs nothing without subscribers. */
  readonly refused$ = new Subject<Refusal>();

  /** @throws {OptionsError} if another module of the application has the prefix, and would receive the requests. */
  constructor(
    host: HttpAdapterHost,
    private readonly sources: SourceRegistry,
    private readonly acceptor: MessageAcceptor,
    private readonly options: IngestOptions,
    private readonly refusals?: { reject(code: string): void },
  ) {
    const { prefix, cors } = options;
    if (!claimPath(host, prefix)) {
      throw new OptionsError('WebhookDestinationModule', [
        `ingest.prefix must differ from that of every other module of the application; '${prefix}' is in use. ` +
          'For one relay, call forRoot once: every module can inject its service',
      ]);
    }
    this.cors = cors === false ? undefined : new CorsPolicy(cors);
    this.admission = new RequestAdmission(sources, options);
    const routes = ingestRoutes(prefix, (kind, request, response) => this.handle(kind, request, response));
    this.routes = routes;
    this.controllerRoutes = options.before === 'router' ? [] : routes;
    this.paths = new Map(routes.flatMap(({ path, kind }) => [path, `${path}/`].map((whole) => [whole, kind])));
    this.findSettings = settingsPaths(prefix);
    this.mount = new HttpMount(host, this);
    if (options.before === 'middleware') this.mount.onExpress(); // before Nest adds its body parsers
  }

  /** Called once the queue is open and Nest has added the application's middleware, before the server listens. */
  open(): void {
    if (this.options.before === 'middleware') this.mount.onServer();
    else this.mount.onExpress();
    this.mount.onFastify('onRequest');
  }

  /** Ends each connection with its next answer, because a busy client would keep the closing server open. */
  close(): void {
    this.closing = true;
    this.logger.end();
  }

  find({ method, url }: IncomingMessage): Found | undefined {
    const path = singleSlashes(pathOf(url));
    const route = this.paths.get(path);
    if (route !== undefined && method === 'POST') return route;
    const found = route ?? this.settingsOf(path);
    if (found === undefined) return undefined;
    if (method === 'GET' && typeof found === 'object') return found;
    return method === 'OPTIONS' && this.cors ? 'preflight' : undefined;
  }

  /** Never rejects. */
  async handle(found: Found, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!admitRequest(request, response)) return;
    if (found === 'preflight') return this.cors!.answerPreflight(request, response);
    this.cors?.apply(request, response);
    const posting: Posting = {};
    try {
      const answer =
        typeof found === 'object'
          ? this.settings(found.writeKey, request, response)
          : await this.take(found, request, posting);
      if (response.headersSent) return; // an interceptor gave the request up
      this.endConnection(response);
      if (answer instanceof RequestError) answerError(request, response, answer);
      else answerJson(request, response, 200, answer);
    } catch (error) {
      this.endConnection(response);
      const refusal = this.toRequestError(error);
      if (refusal === error) this.refusals?.reject(refusal.code); // otherwise the acceptor has counted it
      if (this.refused$.observed) this.refused$.next(describe(refusal, posting, found));
      if (response.headersSent) return;
      answerError(request, response, refusal);
    }
  }

  private settings(writeKey: string, request: IncomingMessage, response: ServerResponse): object {
    this.admission.authenticate(writeKey, request, 404);
    cacheSettings(response);
    return createSettings(writeKey, this.options, request, this.admission.isBehindProxy(request));
  }

  /** Returns the request for an SDK's settings that a path is. */
  private settingsOf(path: string): SettingsRequest | undefined {
    const found = this.findSettings(path);
    return found && (found.isBelowPrefix || this.sources.find(found.writeKey) !== undefined) ? found : undefined;
  }

  private endConnection(response: ServerResponse): void {
    if (this.closing) response.shouldKeepAlive = false;
  }

  /**
   * Resolves with the answer. A rejected message is part of an answer, and was counted when it was found.
   * @param posting receives what is known of the request
   */
  private async take(route: IngestRoute, request: IncomingMessage, posting: Posting): Promise<object> {
    if (route === 'metrics') {
      this.admission.admitKeyless(request);
      parseBody(await readBody(request));
      return SUCCESS;
    }
    // A key in the header is checked before the body is read.
    const key = readKeyOfHeader(request.headers.authorization);
    const known = key === undefined ? undefined : this.sourceOf(key, request, posting);
    const body = (posting.body = await readBody(request));
    const { writeKey, sentAt, messages } = readPostedBody(route, body);
    // Mobile SDKs send the key only in the body.
    const source =
      known ?? this.sourceOf(typeof writeKey === 'string' && writeKey ? writeKey : undefined, request, posting);

    const posted = messages();
    posting.body = undefined; // its memory is not held while the messages are stored
    const { rejected } = await this.acceptor.accept(source, posted, { sentAt, sender: posting.sender });
    const [first] = rejected;
    if (first && route !== 'batch') return new RequestError(first.code, first.message, first.field);
    if (!first) return SUCCESS;
    if (rejected.length <= MAX_EXPLAINED) return { ...SUCCESS, rejected };
    const others = rejected.slice(MAX_EXPLAINED).map(({ index }) => index);
    return { ...SUCCESS, rejected: rejected.slice(0, MAX_EXPLAINED), moreRejected: others };
  }

  private sourceOf(key: string | undefined, request: IncomingMessage, posting: Posting): string {
    const source = this.admission.authenticate(key, request);
    posting.source = source;
    posting.sender = toSender(key, request);
    this.admission.admit(source, request);
    return source;
  }

  private toRequestError(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    const { code } = Object(error) as { code?: unknown }; // not `instanceof`: the queue may be of another build
    // The queue itself logs when it becomes full.
    if (code !== 'queue_full') this.logger.limited('error', `Messages could not be queued: ${errorMessage(error)}`);
    const message = `the queue is not accepting messages; try again in ${QUEUE_RETRY_AFTER} s`;
    return new RequestError('queue_unavailable', message);
  }
}

/** Describes a refused request, for those who observe it. */
function describe(
  { code, field, message, status }: RequestError,
  { source, sender, body }: Posting,
  found: Found,
): Refusal {
  const route = typeof found === 'string' ? found : undefined;
  const textOf = (read: RequestBody) => ('bytes' in read ? read.bytes.toString() : JSON.stringify(read.value));
  const text = body && sender && (() => sender.conceal(textOf(body)));
  return { source, code, field, message, status, sender, route, text };
}
