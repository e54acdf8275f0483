import type { AuditEntry } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../../support/clean-ups.js';
import { onExpress } from '../../../support/platforms.js';
import { waitFor } from '../../../support/wait-for.js';
import { ROUTES } from './routes.js';
import { READ_TOKEN, readStream, startApi, TOKEN, track } from './support.js';

/** What must be in no answer; each is given to the relay below, so none of them is answered as generated. */
const SECRETS = ['s3cret', 'wk_shop', TOKEN, READ_TOKEN];

describe.each(onExpress)('Secrets on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  /** A relay that holds secrets, with a delivery that is dead, one that waits, and one that was made. */
  async function start() {
    const api = await startApi(cleanUp, createAdapter(), {
      options: {
        registry: 'store',
        portal: { secret: 's3cret-portal-of-32-bytes-or-more-x' },
        delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 60_000, concurrency: 1 },
      },
      destination: { sharedSecret: 's3cret-fixed', headers: { 'X-Key': 's3cret-fixed' } },
    });
    const { receiver, relay } = api;
    const url = receiver.url.replace('//', '//s3cret-user:s3cret-pass@') + '?k=s3cret-query';
    const fields = {
      urls: [url, `${url}2`],
      sharedSecret: 's3cret-shared',
      headers: { Authorization: 's3cret-header' },
    };
    await relay.sources.create({ name: 'second', writeKey: 'wk_s3cret' });
    await relay.destinations.create({ name: 'Secret', sources: ['second'], ...fields });
    receiver.statuses = [404, 404, 404, 500];
    await relay.accept('wk_s3cret', [track('m1')]);
    await waitFor(async () => (await relay.deliveries({ state: 'dead' })).length === 2);
    await relay.accept('wk_s3cret', [track('m2')]);
    await waitFor(async () => (await relay.deliveries({ state: 'waiting' })).length === 2);
    receiver.statuses = [200];
    const [dead] = await relay.deliveries({ destination: 'Secret', state: 'dead' });
    return { ...api, url, fields, id: dead!.id };
  }

  it('are in the answer of no route', async () => {
    const { ask, json, get, host, relay, fields, id } = await start();
    const refusal = await refuse(host, get);
    const audit: AuditEntry[] = [];
    relay.audit$.subscribe((entry) => audit.push(entry));
    const stream = await readStream(await ask('GET', 'events'));
    const replay = await json('POST', 'replays', { body: { query: { destination: 'Webhooks' }, expected: 1 } });
    const bodies: Record<string, object> = {
      'POST replays': { query: { destination: 'Webhooks' }, expected: 0 },
      'POST deletions': { userId: 'nobody' },
      'POST deletions/preview': { userId: 'nobody' },
      'POST explain': { message: track('m3'), source: 'second' },
      'POST destinations': { name: 'Other', ...fields },
      'PATCH destinations/x': { urls: fields.urls },
      'POST destinations/x/rotate-secret': { secret: 's3cret-rotated' },
      'POST sources': { name: 'third', writeKey: 'wk_s3cret3' },
      'POST sources/x/rotate-key': { key: 'wk_s3cret2' },
      'POST portal/links': { tenant: 'acme' },
      'POST refusals/resubmit': { source: 'second', expected: 2 },
    };
    // What is removed is asked for last.
    const routes = [...ROUTES].sort(([one], [other]) => Number(one === 'DELETE') - Number(other === 'DELETE'));
    const answers: string[] = [];
    const [entry] = (await get('activity')).entries as { id: string }[];
    for (const token of [READ_TOKEN, TOKEN]) {
      for (const [method, path] of routes.filter(([, name]) => name !== 'events')) {
        const real = path
          .replace('destinations/x', 'destinations/Secret')
          .replace('sources/x', 'sources/second')
          .replace('deliveries/1', `deliveries/${id}`)
          .replace('replays/1', `replays/${replay.answer.id}`)
          .replace('refusals/1', `refusals/${refusal!.id}`)
          .replace('activity/1', `activity/${entry!.id}`);
        const figures = /^(destinations|sources)/.test(path) && method === 'GET' ? '?figures=true' : '';
        const text = path === 'search' ? '?text=secret' : ''; // part of the destination's name
        const source = /^refusals(\/(?!keyless|resubmit)|$)/.test(path) ? '?source=second' : '';
        const body = method === 'GET' ? undefined : (bodies[`${method} ${path}`] ?? {});
        const response = await ask(method, real + figures + text + source, { body, token });
        answers.push(`${response.status} ${method} ${path} ${await response.text()}`);
      }
    }
    await relay.accept('wk_shop', [track('m4')]);
    await waitFor(() => stream.events.some(({ data }) => data.messageId === 'm4'));
    answers.push(JSON.stringify(stream.events), JSON.stringify(audit));
    expect(leaksIn(answers)).toEqual([]);
    const failed = answers.filter((answer) => /^[45]\d\d /.test(answer) && !answer.startsWith('403 '));
    expect(failed).toEqual([]); // each route has answered what it is for
    expect(audit.map(({ action }) => action)).toContain('destination.rotate-secret');
  });

  it('are in no error', async () => {
    const { ask, url, fields } = await start();
    const asks: [method: string, path: string, body: object | string][] = [
      ['PATCH', 'destinations/Secret', { urls: [`${url}x y\n`, 'http://s3cret-user:s3cret-pass@10.0.0.1/'] }],
      ['PATCH', 'destinations/Secret', { headers: { 'bad name': 's3cret-header' } }],
      ['PATCH', 'destinations/Secret', { sharedSecret: 's3cret-shared' }],
      ['POST', 'destinations', { name: 'Secret', ...fields }],
      ['POST', 'destinations', { name: 'Wrong', ...fields, sharedSecret: ['s3cret-shared', 1] }],
      ['POST', 'destinations', '{"sharedSecret":"s3cret-shared",'],
      ['POST', 'destinations/Secret/rotate-secret', { secret: 's3cret-shared' }],
      ['POST', 'destinations/Webhooks/rotate-secret', { secret: 's3cret-shared' }],
      ['POST', 'sources', { name: 'third', writeKey: 'wk_s3cret' }],
      ['POST', 'sources', { name: 'third', writeKey: 'wk s3cret' }],
      ['PATCH', 'sources/second', { writeKey: 'wk_s3cret' }],
      ['POST', 'sources/second/rotate-key', { key: 'wk_s3cret' }],
      ['POST', 'session', { token: 's3cret-pass' }],
    ];
    const answers: string[] = [];
    for (const [method, path, body] of asks) {
      const response = await ask(method, path, { body });
      answers.push(`${response.status} ${method} ${path} ${await response.text()}`);
    }
    expect(leaksIn(answers)).toEqual([]);
    expect(answers.filter((answer) => !/^4\d\d /.test(answer))).toEqual([]);
  });

  it('are in no file of the dashboard', async () => {
    const { host } = await start();
    const read = async (path: string) => {
      const response = await fetch(`${host}/relay/${path}`);
      return `${response.status} ${path} ${await response.text()}`;
    };
    const files = [await read('')];
    const seen = new Set<string>();
    for (let index = 0; index < files.length; index++) {
      for (const [name] of files[index]!.matchAll(/[\w.]+-[A-Z0-9]{8}\.(?:js|css)/g)) {
        if (!seen.has(name)) files.push(await read(`assets/${name}`));
        seen.add(name);
      }
    }
    expect(files.length).toBeGreaterThanOrEqual(3);
    expect(files.filter((file) => !file.startsWith('200 '))).toEqual([]);
    expect(leaksIn(files)).toEqual([]);
  });
});

/** Has the relay refuse a request and a message that name their write key; resolves with one of them once they are kept. */
async function refuse(host: string, get: Awaited<ReturnType<typeof startApi>>['get']) {
  const writeKey = 'wk_s3cret';
  const post = (body: string) =>
    fetch(`${host}/v1/batch`, { method: 'POST', headers: { Authorization: `Bearer ${writeKey}` }, body });
  await post(
    JSON.stringify({ writeKey, batch: [track('m0', { event: 1, writeKey, properties: { url: `?k=${writeKey}` } })] }),
  );
  await post(`{"writeKey":"${writeKey}", key=${writeKey}`);
  let found: { id: string }[] = [];
  await waitFor(async () => {
    found = (await get('refusals?source=second')).refusals as { id: string }[];
    return found.length === 2;
  });
  return found[0];
}

/** Answers that have a secret. */
function leaksIn(answers: string[]): string[] {
  return answers.filter((answer) => SECRETS.some((secret) => answer.includes(secret)));
}
