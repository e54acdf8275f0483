import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';

import { acceptsGzip } from './gzip.util.js';
import { RequestError } from './request.error.js';

/** A browser application as its generated module has it. */
export interface PageAssets {
  /** HTML. */
  page: string;
  /** Files by name, gzipped and in base64. Each name contains a hash of the contents. */
  files: Record<string, string>;
}

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** Answers with the page and the files of a browser application, which contain no data. */
export class PageFiles {
  private readonly pageTag: string;

  /**
   * @param name the application, for messages
   * @param folder last part of the path of the page
   */
  constructor(
    private readonly assets: PageAssets,
    private readonly name: string,
    private readonly folder: string,
    private readonly cache: 'public' | 'private',
  ) {
    this.pageTag = `"${createHash('sha256').update(assets.page).digest('base64url').slice(0, 16)}"`;
  }

  /** @throws {RequestError} 405 for a request other than GET and HEAD */
  checkMethod({ method }: IncomingMessage, response: ServerResponse): void {
    if (method === 'GET' || method === 'HEAD') return;
    response.setHeader('Allow', 'GET, HEAD');
    throw new RequestError('method_unknown', `the ${this.name} has GET and HEAD only`, 'method');
  }

  /**
   * @param path path below that of the page: empty, `/`, or the path of a file
   * @throws {RequestError} 404
   */
  answer(path: string, request: IncomingMessage, response: ServerResponse): void {
    // Relative, because a proxy may use another path; the URLs on the page are relative to the trailing slash.
    if (path === '') {
      return send(request, response, 302, { Location: `${this.folder}/`, 'Cache-Control': 'no-store' });
    }
    if (path === '/') return this.answerPage(request, response);
    const { files } = this.assets;
    const name = path.slice('/assets/'.length);
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (file === undefined) throw new RequestError('file_unknown', `the ${this.name} has no such file`, 'path');
    this.answerFile(name, Buffer.from(file, 'base64'), request, response);
  }

  private answerPage(request: IncomingMessage, response: ServerResponse): void {
    const headers = { ETag: this.pageTag, 'Cache-Control': 'no-cache' };
    const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known.includes(this.pageTag)) return send(request, response, 304, headers);
    const type = { 'Content-Type': 'text/html; charset=utf-8' };
    send(request, response, 200, { ...headers, ...type }, Buffer.from(this.assets.page));
  }

  private answerFile(name: string, zipped: Buffer, request: IncomingMessage, response: ServerResponse): void {
    const headers = {
      'Content-Type': TYPES[name.slice(name.lastIndexOf('.') + 1)],
      'Cache-Control': `${this.cache}, max-age=31536000, immutable`,
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
