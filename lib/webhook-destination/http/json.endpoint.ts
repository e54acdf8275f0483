import type { IncomingMessage, ServerResponse } from 'node:http';

import { LimitedLogger } from '../../common/limited.logger.js';
import { isPlainObject } from '../../common/value.util.js';
import { AnswerLimit } from './answer.limit.js';
import { admitRequest, answerError, answerText } from './answer.util.js';
import { parseBody, readBody } from './body.reader.js';
import type { CountedCaller, QuotaShare } from './caller.quota.js';
import { removeCors } from './request-site.util.js';
import { RequestError } from './request.error.js';
import type { ControllerRoute } from './route.controller.js';

/** What a route has of the controller's; its path is below that of the API. */
export type JsonRoute = Pick<ControllerRoute, 'method' | 'path' | 'summary' | 'query' | 'schema' | 'answer'>;

/** A matching route, with its path parameters. */
export interface FoundRoute<R> {
  route: R;
  params: Record<string, string>;
}

/** Base class of the endpoints with routes that answer in JSON: of the admin API, and of the portal. */
export abstract class JsonEndpoint<R extends JsonRoute> {
  protected readonly logger: LimitedLogger;
  private readonly limit = new AnswerLimit();

  /** @param context names the endpoint in log lines */
  constructor(
    readonly routes: readonly R[],
    context: string,
  ) {
    this.logger = new LimitedLogger(context);
  }

  /**
   * Answers a request. Never rejects.
   *
   * @param target path below that of the API, with the query
   */
  abstract handle(target: string, ...exchange: Parameters<ControllerRoute['handle']>): Promise<void>;

  /**
   * Returns the controller's routes.
   *
   * @param base path of the API, which a global prefix may precede
   * @param prefix begins the ids of the operations
   * @param answers descriptions of the responses of every route
   */
  controllerRoutes(base: string, prefix: string, answers: ControllerRoute['answers']): ControllerRoute[] {
    const afterBase = new RegExp(`${base}/(.*)`, 's');
    return this.routes.map(({ method, path, summary, query, schema, answer }) => ({
      ...{ method, path: `${base}/${path}`, summary, query, schema, answers, answer },
      operationId: operationIdOf(prefix, method, path),
      authorization: 'Bearer',
      handle: (request, ...others) => {
        const [, target = ''] = (request.url ?? '').split(afterBase, 2);
        return this.handle(target, request, ...others);
      },
    }));
  }

  close(): void {
    this.logger.end();
  }

  /**
   * Answers a request. Never rejects.
   *
   * @param work returns the body, or undefined if it answers by itself; calls `begin` once the caller is known, before it
   * reads the body
   * @param refuse returns the answer to an error
   */
  protected async answer(
    request: IncomingMessage,
    response: ServerResponse,
    work: (begin: (caller: CountedCaller) => void) => Promise<object | undefined>,
    refuse: (error: unknown) => RequestError,
  ): Promise<void> {
    if (!admitRequest(request, response)) return;
    removeCors(response);
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    let share: QuotaShare | undefined;
    let isStream = false;
    const begin = (caller: CountedCaller) => void (share = this.limit.begin(caller));
    try {
      const answer = await work(begin);
      isStream = answer === undefined && !response.writableEnded;
      if (answer) answerText(request, response, 200, this.limit.toJson(answer, share));
    } catch (error) {
      const refusal = refuse(error);
      if (response.headersSent) return void response.end();
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
      answerError(request, response, refusal);
    } finally {
      if (share && isStream)
        share.release(); // the live feed limits it
      else if (share) this.limit.end(share, request, response);
    }
  }

  /**
   * Returns the matching route, with its path parameters; without one, the refusal: 404 or 405, or 400 for a path with
   * invalid percent-encoding.
   */
  protected find(method: string | undefined, path: string): FoundRoute<R> | RequestError {
    const given = decode(path.replace(/\/$/, ''));
    if (!given) return new RequestError('path_invalid', 'the path must be percent-encoded UTF-8', 'path');
    const matching = this.routes.flatMap((route) => {
      const parts = route.path.split('/');
      const isMatch = (part: string, index: number) =>
        part.startsWith(':') ? given[index] !== '' : part === given[index];
      return parts.length === given.length && parts.every(isMatch) ? [{ route, parts }] : [];
    });
    if (matching.length === 0) return new RequestError('route_unknown', 'the API has no such route', 'path');
    const found = matching.find(({ route }) => route.method === method);
    if (!found) {
      const methods = matching.map(({ route }) => route.method).join(', ');
      return new RequestError('method_unknown', `this route has ${methods} only`, 'method');
    }
    const named = found.parts.flatMap((part, index) => (part.startsWith(':') ? [[part.slice(1), given[index]!]] : []));
    return { route: found.route, params: Object.fromEntries(named) as Record<string, string> };
  }
}

/** Divides the target of a request into its path and its query. */
export function divide(target: string): [path: string, query: URLSearchParams] {
  const [path = '', query = ''] = target.split(/\?(.*)/s, 2);
  return [path, new URLSearchParams(query)];
}

/**
 * Refuses requests that a browser sends to another site without a CORS preflight, as from a form: a `POST` without a
 * content type of JSON and without a bearer token. Bodies must be JSON in any case.
 *
 * @throws {RequestError} 415
 */
export function checkContentType({ method, headers }: IncomingMessage): void {
  const type = headers['content-type'];
  if (/^application\/json[ \t]*(;|$)/i.test(type ?? '')) return;
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  const needsPreflight = method !== 'POST' || /^Bearer /i.test(headers.authorization ?? '');
  if (type === undefined && !hasBody && needsPreflight) return;
  throw new RequestError('content_type_not_json', 'Content-Type must be application/json', 'Content-Type');
}

/** @throws {RequestError} 400 for a body that is not an object */
export async function readObject(request: IncomingMessage, most?: number): Promise<Record<string, unknown>> {
  const body = await readBody(request, most);
  if ('bytes' in body && body.bytes.length === 0) return {};
  const value = parseBody(body);
  if (isPlainObject(value)) return value;
  throw new RequestError('body_not_object', 'the body must be an object', 'body');
}

/** Returns the id of an operation in the OpenAPI document, such as `relay_getDestinationsByName`. */
function operationIdOf(prefix: string, method: string, path: string): string {
  const words = path.replace(/:/g, 'by-').split(/[/-]/);
  const named = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return `${prefix}_${method.toLowerCase()}${named}`;
}

/** Returns the decoded parts of a path; undefined if it is not percent-encoded UTF-8. */
function decode(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
