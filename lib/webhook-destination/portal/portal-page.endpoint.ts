import type { IncomingMessage, ServerResponse } from 'node:http';

import { LimitedLogger } from '../../common/limited.logger.js';
import { removeCors } from '../http/request-site.util.js';
import { admitRequest, answerError } from '../http/answer.util.js';
import { PageFiles } from '../http/page.files.js';
import { RequestError, toRefusal } from '../http/request.error.js';
import type { PublicKeySet } from './jwks.js';
import { portalAssets } from './portal-assets.source.js';
import type { PortalOptions } from './portal.options.js';

/** Path of the public keys, below that of the portal. */
const KEYS_PATH = '/jwks.json';

/** Returns whether a path below that of the portal is a page, a file or the public keys. */
export function isPage(path: string): boolean {
  return path === '' || path === '/' || path === KEYS_PATH || path.startsWith('/assets/');
}

/** Serves the portal's page and files, which contain no data, and the public keys. Anyone may load them. */
export class PortalPageEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationPortal');
  private readonly files = new PageFiles(portalAssets, 'portal', 'portal', 'public');
  private readonly headers: Record<string, string>;

  constructor(
    { embed, brand }: Pick<PortalOptions, 'embed' | 'brand'>,
    private readonly keys: PublicKeySet,
  ) {
    this.headers = {
      'Content-Security-Policy': policyOf(embed, brand?.logo),
      // An embedding page may require that of what it embeds. The page has no data, and each file is of its own origin.
      'Cross-Origin-Resource-Policy': embed.length > 0 ? 'cross-origin' : 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    };
  }

  /**
   * Never rejects.
   *
   * @param path path below that of the portal, of which {@link isPage} is true
   */
  async handle(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!admitRequest(request, response)) return;
    removeCors(response);
    // That of the application's own middleware would contradict the origins of the policy in older browsers.
    response.removeHeader('X-Frame-Options');
    for (const [name, value] of Object.entries(this.headers)) response.setHeader(name, value);
    try {
      this.files.checkMethod(request, response);
      if (path === KEYS_PATH) await this.answerKeys(request, response);
      else this.files.answer(path, request, response);
    } catch (error) {
      const refusal = toRefusal(error, this.logger, 'for the portal');
      if (response.headersSent) return void response.end();
      response.setHeader('Cache-Control', 'no-store');
      answerError(request, response, refusal);
    }
  }

  close(): void {
    this.logger.end();
  }

  private async answerKeys(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const kid = new URLSearchParams((request.url ?? '').split('?', 2)[1]).get('kid') ?? undefined;
    const answer = await this.keys.answer(kid);
    if (!answer)
      throw new RequestError('file_unknown', 'there are too many keys for one answer: ask for one with ?kid=', 'kid');
    const headers = { ETag: answer.etag, 'Cache-Control': `public, max-age=${answer.maxAge}` };
    if (request.headers['if-none-match'] === answer.etag) return void response.writeHead(304, headers).end();
    const length = Buffer.byteLength(answer.body);
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': length,
    });
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }
}

/** Files and requests of the page's own origin only, besides the logo, and no inline scripts or styles. */
function policyOf(embed: readonly string[], logo: string | undefined): string {
  const origin = logo?.startsWith('https:') ? ` ${new URL(logo).origin}` : '';
  return (
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:${origin}; connect-src 'self'; ` +
    `base-uri 'none'; form-action 'none'; frame-ancestors ${embed.length > 0 ? embed.join(' ') : "'none'"}`
  );
}
