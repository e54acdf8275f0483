import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';

import { LimitedLogger } from '../../../common/limited.logger.js';
import { admitRequest, answerError } from '../../http/answer.util.js';
import { acceptsGzip } from '../../http/gzip.util.js';
import type { PlatformPair } from '../../http/http.mount.js';
import { RequestError } from '../../http/request.error.js';
import { toRefusal } from '../admin.errors.js';
import type { AdminGate } from '../admin.gate.js';
import { removeCors } from '../request-site.util.js';
import { dashboardAssets } from './dashboard-assets.source.js';

/** Content security policy: files and requests of the page's own origin only, and no inline scripts or styles. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Replace the headers set by the application's own middleware, such as helmet. */
const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/**
 * Serves the dashboard's page and files, which contain no data. With tokens, anyone may load them, because the page is
 * where users sign in. With a guard, the guard decides.
 */
export class DashboardEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');
  private readonly page: string;
  private readonly pageTag: string;

  constructor(private readonly gate: AdminGate) {
    this.page = dashboardAssets.page.replace('"token"', gate.hasTokens ? '"token"' : '"guard"');
    this.pageTag = `"${createHash('sha256').update(this.page).digest('base64url').slice(0, 16)}"`;
  }

  /**
   * Never rejects.
   *
   * @param path path below `/relay`: empty, `/`, or the path of a file
   */
  async handle(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    platform: PlatformPair,
  ): Promise<void> {
    if (!admitRequest(request, response)) return;
    removeCors(response);
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('Allow', 'GET, HEAD');
        throw new RequestError('method_unknown', 'the dashboard has GET and HEAD only', 'method');
      }
      if (!this.gate.hasTokens) await this.gate.authenticate(platform);
      this.answer(path, request, response);
    } catch (error) {
      const refusal = toRefusal(error, this.logger, 'for the dashboard');
      this.gate.recordRefusal(request, refusal, { details: { route: 'dashboard' } });
      if (response.headersSent) return void response.end();
      response.setHeader('Cache-Control', 'no-store');
      answerError(request, response, refusal);
    }
  }

  private answer(path: string, request: IncomingMessage, response: ServerResponse): void {
    // Relative, because a proxy may use another path; the URLs on the page are relative to the trailing slash.
    if (path === '') return send(request, response, 302, { Location: 'relay/', 'Cache-Control': 'no-store' });
    if (path === '/') return this.answerPage(request, response);
    const name = path.slice('/assets/'.length);
    const file = Object.hasOwn(dashboardAssets.files, name) ? dashboardAssets.files[name] : undefined;
    if (file === undefined) throw new RequestError('file_unknown', 'the dashboard has no such file', 'path');
    this.answerFile(name, Buffer.from(file, 'base64'), request, response);
  }

  private answerPage(request: IncomingMessage, response: ServerResponse): void {
    const headers = { ETag: this.pageTag, 'Cache-Control': 'no-cache' };
    const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known.includes(this.pageTag)) return send(request, response, 304, headers);
    send(request, response, 200, { ...headers, 'Content-Type': 'text/html; charset=utf-8' }, Buffer.from(this.page));
  }

  private answerFile(name: string, zipped: Buffer, request: IncomingMessage, response: ServerResponse): void {
    const headers = {
      'Content-Type': TYPES[name.slice(name.lastIndexOf('.') + 1)],
      'Cache-Control': `${this.gate.hasTokens ? 'public' : 'private'}, max-age=31536000, immutable`,
      Vary: 'Accept-Encoding',
    };
    if (acceptsGzip(request)) {
      return send(request, response, 200, { ...headers, 'Content-Encoding': 'gzip' }, zipped);
    }
    send(request, response, 200, headers, gunzipSync(zipped));
  }
}

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  body?: Buffer,
): void {
  const length = status === 304 ? {} : { 'Content-Length': body?.length ?? 0 };
  response.writeHead(status, { ...headers, ...length }).end(method === 'HEAD' ? undefined : body);
}
