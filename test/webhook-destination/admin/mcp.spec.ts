import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Receiver } from '../../support/receiver.js';
import { startRelayApp } from '../../support/relay.app.js';
import { waitFor } from '../../support/wait-for.js';

const TOKEN = 'a-token-that-may-write-0123456789';
const READ_TOKEN = 'a-token-that-may-read-0123456789';
const afterwards = useCleanUps();

const PLATFORMS = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const;

describe.each(PLATFORMS)('admin.mcp on %s', (_name, createAdapter) => {
  /** Starts a relay with a delivery that a receiver has refused. */
  async function start(mcp?: boolean) {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = [404];
    const { host, relay } = await startRelayApp(afterwards, createAdapter(), {
      options: {
        destinations: [{ name: 'crm', urls: [receiver.url] }],
        admin: { token: TOKEN, readToken: READ_TOKEN, mcp },
      },
    });
    const audited: object[] = [];
    const subscription = relay.audit$.subscribe((entry) => audited.push(entry));
    afterwards(() => subscription.unsubscribe());
    await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered', messageId: 'm1' }]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 1);
    return { url: `${host}/relay/api/mcp`, relay, receiver, audited };
  }

  async function connect(url: string, token: string) {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    afterwards(() => client.close());
    const call = async (name: string, values: Record<string, unknown> = {}) => {
      const { content, isError = false } = await client.callTool({ name, arguments: values });
      const [{ text }] = content as [{ text: string }];
      return { isError, text };
    };
    return { client, call };
  }

  it('answers the questions of a caller who may only read, and changes nothing', async () => {
    const { url, audited } = await start(true);
    const { client, call } = await connect(url, READ_TOKEN);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    const found = JSON.parse((await call('search_deliveries', { messageId: 'm1' })).text) as Record<string, object[]>;
    expect(found.deliveries).toMatchObject([{ state: 'dead', destination: 'crm' }]);
    const why = await call('why_not_delivered', { messageId: 'm1', destination: 'crm' });
    expect(JSON.parse(why.text)).toMatchObject({ delivery: { attempts: [{ results: [{ status: 404 }] }] } });
    expect(await call('search_deliveries', { state: 'lost' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('state'),
    });
    expect(await call('replay_delivery', { id: '1' })).toMatchObject({ isError: true });
    expect(audited).toEqual([]);
  });

  it('says why a message was refused, and counts what a replay needs to know', async () => {
    const { url, relay } = await start(true);
    const { client, call } = await connect(url, READ_TOKEN);
    await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 7, messageId: 'm7' }]);
    const why = async () => (await call('why_not_delivered', { messageId: 'm7', destination: 'crm' })).text;
    await waitFor(async () => (await why()).includes('refusals'));
    expect(JSON.parse(await why())).toMatchObject({ refusals: [{ code: 'event_not_string', source: 'shop' }] });
    const counted = await call('count_deliveries', { state: 'dead', status: '404', reason: 'all_failed' });
    expect(JSON.parse(counted.text)).toMatchObject({ count: 1, groups: [{ destination: 'crm' }] });
    const { tools } = await client.listTools();
    const search = tools.find(({ name }) => name === 'search_deliveries');
    expect(Object.keys(search!.inputSchema.properties!)).toEqual(
      expect.arrayContaining(['anonymousId', 'eventStart', 'status', 'release', 'reason']),
    );
  });

  it('replays for a caller who may write, and records it in the audit log', async () => {
    const { url, receiver, audited } = await start(true);
    const { call } = await connect(url, TOKEN);
    receiver.statuses = [200];
    const replay = { query: { destination: 'crm' }, expected: 1 };
    expect(await call('replay_deliveries', { ...replay, expected: 2 })).toMatchObject({ isError: true });
    expect(await call('replay_deliveries', replay)).toMatchObject({ isError: false });
    await receiver.received(2);
    expect(audited).toContainEqual(expect.objectContaining({ action: 'deliveries.replay', by: 'token' }));
  });

  it('refuses callers without a token, and is not there by default', async () => {
    const { url } = await start(true);
    await expect(connect(url, 'a-wrong-token-of-some-length')).rejects.toThrow();
    const { url: without } = await start();
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    expect((await fetch(without, { method: 'POST', headers, body: '{}' })).status).toBe(404);
  });
});
