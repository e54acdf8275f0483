import type { IncomingMessage } from 'node:http';

import { ExpressAdapter } from '@nestjs/platform-express';
import type { PortalLinkOptions, PortalOptions, WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import type { BrowserContextOptions, Page } from 'playwright-core';

import { useDashboard } from '../../dashboard/support/dashboard.harness.js';
import { startRelayApp } from '../../support/relay.app.js';
import { type Script, ScriptedReceiver } from '../../support/scripted-receiver.js';

/** The customer whose portal is opened. */
export const TENANT = 'acme';

/** The catalogue of the application. */
export const EVENTS = [
  {
    name: 'order.completed',
    description: 'A customer has paid an order.',
    schema: {
      type: 'object',
      required: ['total'],
      properties: { total: { type: 'number', description: 'What was paid.' }, orderId: { type: 'string' } },
    },
    example: { total: 42.5, orderId: 'o-1' },
  },
  { name: 'order.refunded', description: 'Money went back to the customer.' },
  { name: 'invoice.paid' },
] satisfies PortalOptions['events'];

export interface StartOptions extends Partial<Omit<WebhookDestinationModuleOptions, 'portal'>> {
  portal?: Partial<PortalOptions>;
}

export interface OpenPortalOptions extends Partial<PortalLinkOptions> {
  browser?: BrowserContextOptions;
}

/** Starts relays with a portal, and opens it in Chromium: see {@link useDashboard}. */
export function usePortal() {
  const { afterwards, visit, allowRefusals } = useDashboard();

  const start = async ({ portal, ...options }: StartOptions = {}) => {
    const started = await startRelayApp(afterwards, new ExpressAdapter(), {
      options: {
        registry: 'store',
        sources: [{ name: 'shop', writeKey: 'wk_shop', metadata: { tenant: TENANT } }],
        destinations: [],
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 50 },
        portal: { secret: 'portal-s3cret-of-the-tests-32-long', events: EVENTS, ...portal },
        ...options,
      },
    });
    const { relay, host } = started;
    const linkTo = async (link: Partial<PortalLinkOptions> = {}) => {
      const { url } = await relay.portal.link(TENANT, { access: 'write', ...link });
      return host + url;
    };
    return {
      ...started,
      linkTo,
      /** Opens the portal of the customer. */
      open: async ({ browser, ...link }: OpenPortalOptions = {}) => {
        const page = await visit(await linkTo(link), { token: null, browser });
        await page.getByRole('navigation').waitFor();
        return page;
      },
      /** The answer of the portal's API to the customer. */
      ask: async <T>(method: string, path: string, body?: object): Promise<T> => {
        const { token } = await relay.portal.link(TENANT, { access: 'write' });
        const response = await fetch(`${host}/relay/portal/api/${path}`, {
          method,
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          body: body && JSON.stringify(body),
        });
        const answer = (await response.json()) as T;
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
        return answer;
      },
    };
  };

  return {
    afterwards,
    visit,
    allowRefusals,
    start,
    /** Starts a receiver of the customer. */
    receive: async (script: Script) => {
      const receiver = await ScriptedReceiver.start(script);
      afterwards(() => receiver.stop());
      return receiver;
    },
  };
}

/** Answers with a status and a text. */
export const say =
  (code: number, text: string, type = 'text/plain'): Script =>
  (response) =>
    void response.writeHead(code, { 'Content-Type': type }).end(text);

/** Answers each path in its own way, and others with 404 and a text. */
export const paths =
  (scripts: Record<string, Script>): Script =>
  (response, index, request: IncomingMessage) => {
    const path = request.url!;
    (scripts[path] ?? say(404, `There is nothing at ${path}.`))(response, index, request);
  };

export const button = (page: Pick<Page, 'getByRole'>, name: string) => page.getByRole('button', { name, exact: true });

export const heading = (page: Pick<Page, 'getByRole'>, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, exact: true });
