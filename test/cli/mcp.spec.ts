import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ExpressAdapter } from '@nestjs/platform-express';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { spawnCommand } from '../support/command.js';
import { Receiver } from '../support/receiver.js';
import { startRelayApp } from '../support/relay.app.js';
import { waitFor } from '../support/wait-for.js';

const TOKEN = 'a-token-that-may-write-0123456789';
const READ_TOKEN = 'a-token-that-may-read-0123456789';
const READ_TOOLS = [
  'overview',
  'search_deliveries',
  'count_deliveries',
  'show_delivery',
  'why_not_delivered',
  'explain',
  'destinations',
  'sources',
  'replay_progress',
];
const afterwards = useCleanUps();

/** Starts a relay whose receiver refuses all messages; `other` takes another event. */
async function startRelay() {
  const refusing = await Receiver.start();
  afterwards(() => refusing.stop());
  refusing.statuses = [404];
  const { host, relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
    options: {
      destinations: [
        { name: 'crm', urls: [refusing.url], events: ['Ordered'] },
        { name: 'other', urls: [refusing.url], events: ['Viewed'] },
      ],
      admin: { token: TOKEN, readToken: READ_TOKEN },
    },
  });
  await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered', messageId: 'm1' }]);
  await waitFor(async () => (await relay.deliveries({ state: 'dead' }, { limit: 9 })).length === 1);
  return { host, relay };
}

/** Connects the SDK's own client to the command in a process of its own. */
async function connect(host: string, token: string) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['bin/nestjs-analytics-relay.mjs', 'mcp', '--url', `${host}/relay/`],
    env: { ADMIN_TOKEN: token },
    stderr: 'pipe',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  afterwards(() => client.close());
  const call = async (name: string, values: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: values });
    const [{ text }] = content as [{ text: string }];
    return { isError, text };
  };
  const ask = async (name: string, values?: Record<string, unknown>) => {
    const { isError, text } = await call(name, values);
    if (isError) throw new Error(text);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return { client, call, ask };
}

describe('The command mcp', () => {
  it('answers the questions of an operator with a token that may only read', async () => {
    const { host } = await startRelay();
    const { client, call, ask } = await connect(host, READ_TOKEN);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([...READ_TOOLS].sort());
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);

    expect(await ask('overview')).toHaveProperty('counts');
    const found = await ask('search_deliveries', { messageId: 'm1' });
    const [delivery] = found.deliveries as [{ id: string }];
    expect(delivery).toMatchObject({ state: 'dead', destination: 'crm' });
    expect(await ask('show_delivery', { id: delivery.id })).toMatchObject({ body: expect.stringContaining('Ordered') });
    expect(await ask('why_not_delivered', { messageId: 'm1', destination: 'crm' })).toMatchObject({
      delivery: { state: 'dead', attempts: [{ results: [{ status: 404 }] }] },
    });
    expect(await ask('why_not_delivered', { messageId: 'm1', destination: 'other' })).toMatchObject({
      decision: { destination: 'other', reason: 'event' },
      other: { destination: 'crm' },
    });
    expect(await ask('why_not_delivered', { messageId: 'm2', destination: 'crm' })).toEqual({
      note: expect.stringContaining('no delivery of this message'),
    });
    expect(await ask('explain', { message: { type: 'track', userId: 'u1', event: 'Viewed' } })).toMatchObject({
      accepted: true,
    });
    expect(await ask('destinations', { name: 'crm' })).toMatchObject({ name: 'crm', figures: { counts: { dead: 1 } } });
    expect(await ask('destinations')).toMatchObject({ destinations: [{ name: 'crm' }, { name: 'other' }] });
    expect(await ask('sources')).toMatchObject({ sources: [{ name: 'shop', figures: { accepted: 1 } }] });

    expect(await call('why_not_delivered', { messageId: 'm1', destination: 'nobody' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('status 404'),
    });
    expect(await call('search_deliveries', { state: 'lost' })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/status 400, .*state/),
    });
    expect(await call('show_delivery', { id: '..' })).toMatchObject({ isError: true });
    expect(await call('replay_delivery', { id: delivery.id, state: 'dead' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('There is no tool'),
    });
  });

  it('replays with a token that may write, and only as many as were expected', async () => {
    const { host, relay } = await startRelay();
    const { client, call, ask } = await connect(host, TOKEN);
    const { tools } = await client.listTools();
    const changing = tools.filter(({ annotations }) => annotations?.destructiveHint === true);
    expect(changing.map(({ name }) => name)).toEqual(['replay_delivery', 'replay_deliveries']);

    const query = { destination: 'crm' };
    expect(await call('replay_deliveries', { query, expected: 2 })).toMatchObject({
      isError: true,
      text: expect.stringContaining('status 409'),
    });
    const { id } = await ask('replay_deliveries', { query, expected: 1 });
    await waitFor(async () => (await ask('replay_progress', { id })).done === 1);
    const dead = () => relay.deliveries({ state: 'dead' }, { limit: 9 });
    await waitFor(async () => (await dead()).length === 1);
    expect(await ask('replay_delivery', { id: (await dead())[0]!.id, state: 'dead' })).toEqual({ replayed: 1 });
  });

  it('says at its start why it cannot reach the relay, without the token', async () => {
    const { host } = await startRelay();
    const run = (url: string, token: string) => spawnCommand('mcp', '--url', url, '--token', token);
    for (const [url, token, fault] of [
      [`${host}/relay`, 'a-wrong-token-0123456789012345', 'status 401'],
      [host, TOKEN, 'status 404'],
      ['http://127.0.0.1:9/relay', TOKEN, 'fetch failed'],
    ] as const) {
      const { code, stdout, stderr } = await run(url, token);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^mcp: GET http:[^ ]*\/api\/session: /);
      expect(stderr).toMatch(fault);
      expect(stderr).not.toMatch(token);
    }
  });
});
