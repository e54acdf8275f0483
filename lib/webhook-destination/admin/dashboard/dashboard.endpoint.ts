import type { IncomingMessage, ServerResponse } from 'node:http';

import { LimitedLogger } from '../../../common/limited.logger.js';
import { admitRequest, answerError } from '../../http/answer.util.js';
import type { PlatformPair } from '../../http/http.mount.js';
import { PageFiles } from '../../http/page.files.js';
import { removeCors } from '../../http/request-site.util.js';
import { toRefusal } from '../../http/request.error.js';
import type { AdminGate } from '../admin.gate.js';
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

/**
 * Serves the dashboard's page and files, which contain no data. With tokens, anyone may load them, because the page is
 * where users sign in. With a guard, the guard decides.
 */
export class DashboardEndpoint {
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');
  private readonly files: PageFiles;

  constructor(private readonly gate: AdminGate) {
    const page = dashboardAssets.page.replace('"token"', gate.hasTokens ? '"token"' : '"guard"');
    const cache = gate.hasTokens ? 'public' : 'private';
    this.files = new PageFiles({ ...dashboardAssets, page }, 'dashboard', 'relay', cache);
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
      this.files.checkMethod(request, response);
      if (!this.gate.hasTokens) await this.gate.authenticate(platform);
      this.files.answer(path, request, response);
    } catch (error) {
      const refusal = toRefusal(error, this.logger, 'for the dashboard');
      this.gate.recordRefusal(request, refusal, { details: { route: 'dashboard' } });
      if (response.headersSent) return void response.end();
      response.setHeader('Cache-Control', 'no-store');
      answerError(request, response, refusal);
    }
  }
}
