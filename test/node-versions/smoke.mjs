// Uses the built client, as ES modules and as CommonJS, on whatever Node runs this file, from the package named by the
// argument. Plain JavaScript of Node 14.
import assert from 'node:assert';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { clearTimeout, setTimeout } from 'node:timers';

/** A collection service that gives these answers in order, and the last one again and again. */
async function collect(...answers) {
  const requests = [];
  const sockets = new Set();
  const server = createServer((request, response) => {
    let raw = '';
    request.on('data', (chunk) => (raw += chunk));
    request.on('end', () => {
      requests.push({ headers: request.headers, body: JSON.parse(raw) });
      const status = answers[Math.min(requests.length, answers.length) - 1];
      if (status) response.writeHead(status).end('{"success":true}');
    });
  });
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    sockets.forEach((socket) => socket.destroy());
    return new Promise((resolve) => server.close(resolve));
  };
  return { requests, sockets, stop, url: `http://127.0.0.1:${server.address().port}` };
}

const tracked = (analytics, message) =>
  new Promise((resolve) => analytics.track(message, (err, ctx) => resolve({ err, ctx })));

async function delivers({ Analytics }, settings) {
  const collector = await collect(500, 200);
  const analytics = new Analytics({ writeKey: 'wk', host: collector.url, ...settings });
  const kinds = [];
  for (const kind of ['identify', 'track', 'page', 'screen', 'group', 'alias']) {
    analytics.on(kind, (ctx) => kinds.push(ctx.event.type));
  }
  const responses = [];
  analytics.on('http_response', ({ status, body }) => responses.push([status, body]));
  analytics.identify({ userId: 'u', traits: { plan: 'pro' } });
  const outcome = tracked(analytics, { userId: 'u', event: 'Ordered', properties: { text: 'Grüße 😀' } });
  analytics.page({ userId: 'u', name: 'Home' });
  analytics.screen({ userId: 'u', name: 'Home' });
  analytics.group({ userId: 'u', groupId: 'g' });
  analytics.alias({ userId: 'u', previousId: 'p' });
  await analytics.closeAndFlush();
  assert.strictEqual((await outcome).err, undefined);
  assert.deepStrictEqual(kinds, ['identify', 'track', 'page', 'screen', 'group', 'alias']);
  assert.deepStrictEqual(
    responses.map(([status]) => status),
    [500, 200],
  );
  assert.strictEqual(responses[1][1], '{"success":true}');
  assert.strictEqual(collector.requests[1].headers['x-retry-count'], '1');
  assert.strictEqual(collector.requests[1].body.batch[1].properties.text, 'Grüße 😀');
  await collector.stop();
}

async function fails({ Analytics, ValidationError }, settings) {
  const collector = await collect(400);
  const analytics = new Analytics({ writeKey: 'wk', host: collector.url, ...settings });
  assert.throws(() => analytics.track({ event: 'E' }), ValidationError);
  assert.throws(() => new Analytics({}), /writeKey/);
  const circular = {};
  circular.self = circular;
  const outcomes = [
    tracked(analytics, { userId: 'u', event: 'refused' }),
    tracked(analytics, { userId: 'u', event: 'large', properties: { fill: 'x'.repeat(33000) } }),
    tracked(analytics, { userId: 'u', event: 'circular', properties: circular }),
  ];
  await analytics.flush();
  const [refused, large, broken] = (await Promise.all(outcomes)).map(({ err }) => err.message);
  assert.strictEqual(refused, '[400] Bad Request');
  assert.match(large, /32 KB/);
  assert.match(broken, /must not contain itself/);
  await collector.stop();
}

async function givesUp({ Analytics }, settings) {
  const collector = await collect(undefined);
  const analytics = new Analytics({ writeKey: 'wk', host: collector.url, ...settings });
  const outcome = tracked(analytics, { userId: 'u', event: 'E' });
  await analytics.closeAndFlush({ timeout: 200 });
  assert.match((await outcome).err.message, /within the flush timeout of 200 ms/);
  while (collector.sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await collector.stop();
}

async function runsPlugins({ Analytics }, settings) {
  const collector = await collect(200);
  const analytics = new Analytics({ writeKey: 'wk', host: collector.url, ...settings });
  const plugin = { isLoaded: () => true, load: () => Promise.resolve() };
  await analytics.register(
    { ...plugin, name: 'b', type: 'before', track: (ctx) => (ctx.updateEvent('properties.a.b', 1), ctx) },
    { ...plugin, name: 'd', type: 'destination', track: (ctx) => (ctx.updateEvent('properties.a.b', 2), ctx) },
  );
  const outcome = tracked(analytics, { userId: 'u', event: 'E' });
  await analytics.flush();
  assert.strictEqual((await outcome).err, undefined);
  assert.deepStrictEqual(collector.requests[0].body.batch[0].properties, { a: { b: 1 } });
  await collector.stop();
}

const name = process.argv[2] || 'nestjs-analytics-relay/client';
const builds = [
  ['ES modules', import(name)],
  ['CommonJS', createRequire(import.meta.url)(name)],
];

async function main() {
  for (const [format, build] of builds) {
    const client = await build;
    const clients = [
      ['the default client', {}],
      ['keepAliveHttpClient()', { httpClient: client.keepAliveHttpClient() }],
    ];
    for (const [kind, settings] of clients) {
      for (const check of [delivers, fails, givesUp, runsPlugins]) await check(client, settings);
      console.log(`${process.version}  ${format}, ${kind}: passed`);
    }
  }
}

const unfinished = setTimeout(() => {
  console.error('not done after 30 s');
  process.exit(1);
}, 30000);

main().then(
  () => clearTimeout(unfinished),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
