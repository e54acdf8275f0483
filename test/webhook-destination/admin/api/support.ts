import type { AbstractHttpAdapter } from '@nestjs/core';
import type {
  AdminOptions,
  AuditEntry,
  WebhookDestinationModuleOptions,
  WebhookDestinationService,
} from 'nestjs-analytics-relay';

import type { Afterwards } from '../../../support/clean-ups.js';
import { type RelayAppOptions, startRelayApp } from '../../../support/relay.app.js';
import { waitFor } from '../../../support/wait-for.js';

export const TOKEN = 'admin-t0ken-of-the-tests-32-long';
export const READ_TOKEN = 'read-t0ken-of-the-tests-32-longer';

/** A JSON answer: what tests look into. */
export interface Answer {
  id: string;
  state: string;
  code: string;
  body: string;
  cursor?: string;
  deliveries: { id: string; messageId: string; body?: string }[];
  destinations: unknown[];
  points: Record<string, number>[];
  recent: Record<string, number>;
  [field: string]: unknown;
}

/** What a test asks of the API. */
export interface Asked {
  body?: unknown;
  token?: string | null;
  headers?: Record<string, string>;
}

/** Starts a relay with the admin API, and asks it. */
export async function startApi(
  afterwards: Afterwards,
  adapter: AbstractHttpAdapter,
  {
    options = {},
    admin = { token: TOKEN, readToken: READ_TOKEN },
    base = 'relay/api',
    ...others
  }: Omit<RelayAppOptions, 'options'> & {
    options?: Partial<WebhookDestinationModuleOptions>;
    admin?: AdminOptions;
    base?: string;
  } = {},
) {
  const started = await startRelayApp(afterwards, adapter, { ...others, options: { admin, ...options } });
  /** The answer to a request, as the browser or a program makes it; a null token sends none. */
  const ask = (method: string, path: string, { body, token = TOKEN, headers }: Asked = {}) =>
    fetch(`${started.host}/${base}/${path}`, {
      method,
      headers: {
        ...(method === 'GET' ? {} : { 'Content-Type': 'application/json' }),
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
  const json = async (method: string, path: string, asked?: Asked) => {
    const response = await ask(method, path, asked);
    return { status: response.status, answer: (await response.json()) as Answer, response };
  };
  /** The answer of a request that succeeds. */
  const get = async (path: string, asked?: Asked) => {
    const { status, answer } = await json('GET', path, asked);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  /** The deliveries that a search finds, in as many portions as it takes: under load, each may have few. */
  const find = async (query: string) => {
    const found: Answer['deliveries'] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const portion = await get(`deliveries?${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      found.push(...portion.deliveries);
      ({ cursor } = portion);
    }
    return found;
  };
  return { ...started, ask, json, get, find };
}

/** What the audit log records from now on. */
export function followAudit(relay: WebhookDestinationService): AuditEntry[] {
  const entries: AuditEntry[] = [];
  relay.audit$.subscribe((entry) => entries.push(entry));
  return entries;
}

/** Headers that a browser sends with the request of a page of the same origin. */
export const OWN_PAGE = { 'Sec-Fetch-Site': 'same-origin' };

/** Signs in as a browser; what it asks for from then on has the returned headers. */
export async function signIn(
  { json }: Pick<Awaited<ReturnType<typeof startApi>>, 'json'>,
  { token = TOKEN, headers = {}, ...body }: { token?: string; headers?: Record<string, string>; base?: string } = {},
) {
  const { status, answer, response } = await json('POST', 'session', {
    token: null,
    body: { token, ...body },
    headers,
  });
  const [cookie = ''] = response.headers.getSetCookie();
  const session = cookie.split(';')[0]!;
  const asked = (value = session) => ({
    token: null,
    headers: { ...OWN_PAGE, ...headers, Cookie: `other=1; ${value}` },
  });
  return { status, answer, cookie, session, asked };
}

/** A track message. */
export const track = (messageId: string, fields: Record<string, unknown> = {}) => ({
  type: 'track',
  event: 'Ordered',
  userId: 'u1',
  messageId,
  ...fields,
});

/** Reads server-sent events. */
export async function readStream(response: Response) {
  const events: { name: string; data: Record<string, unknown> }[] = [];
  let ended = false;
  const read = async () => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const [, name = '', data = '{}'] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
        if (name) events.push({ name, data: JSON.parse(data) as Record<string, unknown> });
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (ended = true));
  await waitFor(() => events.length > 0);
  return { events, hasEnded: () => ended };
}
