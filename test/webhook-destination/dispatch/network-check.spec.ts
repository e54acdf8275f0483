import { resolve4 } from 'node:dns/promises';
import { hostname } from 'node:os';

import { memoryQueue, sqliteQueue, type WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { beforeEach, describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { DnsServer } from '../../support/dns-server.js';
import { Relay } from '../../support/relay.js';
import { type Script, ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const REASON = 'address not allowed by delivery.allowedNetworks';
const SOON = { initialRetryDelay: 20, maxRetryDelay: 40 };

/** A network that no receiver of these tests is in. */
const ELSEWHERE = ['198.18.7.0/24'];

const WARNING =
  /^warn Destination Webhooks: nothing is sent to \S+, as \S+ is not a public address\. To allow it, set /;

describe('Names that the network policy refuses', () => {
  const cleanUp = useCleanUps();
  let path: string;
  beforeEach(async () => {
    const folder = await temporaryFolder(cleanUp);
    path = folder.path('relay.db');
  });

  /** A receiver at this machine's name, which is not a public one. */
  async function receive(script: Script): Promise<{ receiver: ScriptedReceiver; url: string }> {
    const receiver = await ScriptedReceiver.start(script, undefined, '0.0.0.0');
    cleanUp(() => receiver.stop());
    return { receiver, url: `http://${hostname()}:${receiver.port}/hook` };
  }

  async function relay(
    urls: string[],
    allowedNetworks: string[],
    { delivery, ...options }: Partial<WebhookDestinationModuleOptions> = {},
  ): Promise<Relay> {
    const started = await Relay.start({
      destinations: [{ urls }],
      queue: sqliteQueue({ path }),
      delivery: { ...SOON, allowedNetworks, ...delivery },
      ...options,
    });
    cleanUp(() => started.stop());
    return started;
  }

  /** What a warning says to set, read as the code that it is. */
  async function warnedSetting(started: Relay): Promise<string[]> {
    await waitFor(() => started.log.matching(WARNING).length > 0);
    const [line] = started.log.matching(WARNING);
    return JSON.parse(/delivery\.allowedNetworks: (\[.*\])$/.exec(line!)![1]!.replaceAll("'", '"')) as string[];
  }

  /** Lets names have addresses; all others have none. */
  async function resolveNames(addresses: DnsServer['answers']): Promise<DnsServer> {
    const server = await DnsServer.start();
    cleanUp(() => server.stop());
    Object.assign(server.answers, addresses);
    return server;
  }

  it('are warned of at start, with the value to set, and what they stopped is sent once it is set', async () => {
    const { receiver, url } = await receive(status(200));
    const refusing = await relay([url], ELSEWHERE);
    const setting = await warnedSetting(refusing);
    expect(setting).toEqual([...ELSEWHERE, ...setting.slice(1)]);
    await refusing.track('m1', 'm2');
    const [dead] = await refusing.settled('dead', 2);
    expect(dead).toMatchObject({
      attempt: 1,
      reason: REASON,
      results: [{ outcome: 'permanent', error: expect.stringMatching(/^address not allowed .* is not public$/) }],
    });
    await refusing.stop();

    const unmended = await relay([url], ELSEWHERE);
    await warnedSetting(unmended);
    await unmended.stop();
    expect(unmended.events).toEqual([]);

    const mended = await relay([url], setting);
    expect(await mended.settled('delivered', 2)).toMatchObject([{ attempt: 2 }, { attempt: 2 }]);
    await waitFor(
      () => mended.log.matching(/^log Destination Webhooks is now allowed\. Dead deliveries replayed: 2$/).length === 1,
    );
    expect(mended.log.matching(/^warn/)).toEqual([]);
    expect(receiver.webhooks).toHaveLength(2);
  });

  it('are looked up 16 at a time, however many destinations there are', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `receiver-${index}.test`);
    const server = await resolveNames(Object.fromEntries(names.map((name) => [name, 'silence'])));
    await relay([], ELSEWHERE, {
      destinations: names.map((name) => ({ name, urls: [`https://${name}/hook`] })),
    });
    const asked = () => new Set(server.asked.filter((name) => names.includes(name))).size;
    await waitFor(() => asked() === 16);
    // Whatever was asked with the others has arrived before this.
    await expect(resolve4('unknown.test')).rejects.toThrow('ENOTFOUND');
    expect(asked()).toBe(16);
  });

  it('are sent to again once, and nothing else that is dead is', async () => {
    const { receiver, url } = await receive(sequence(status(404), status(410), status(200)));
    const allowed = await relay([url], ['localhost', '0.0.0.0/0', '::/0']);
    await allowed.track('m1');
    await allowed.settled('dead');
    await allowed.stop();

    const refusing = await relay([url], ELSEWHERE);
    await refusing.track('m2');
    await refusing.settled('dead');
    await refusing.stop();

    const mended = await relay([url], ['0.0.0.0/0', '::/0']);
    expect(await mended.settled('dead')).toMatchObject([
      { messageId: 'm2', attempt: 2, reason: 'every URL failed permanently' },
    ]);
    await mended.stop();

    const later = await relay([url], ['0.0.0.0/0', '::/0']);
    await later.track('m3');
    await later.settled('delivered');
    await later.stop();
    expect(receiver.webhooks.map(({ headers }) => headers['x-message-id'])).toEqual(['m1', 'm2', 'm3']);
  });

  it('are why deliveries die that the open circuit held back, each after an attempt', async () => {
    const { url } = await receive(status(200));
    const refusing = await relay([url], ELSEWHERE, {
      delivery: {
        ...SOON,
        allowedNetworks: ELSEWHERE,
        concurrency: 5,
        retryWindow: 500,
        initialRetryDelay: 100,
        maxRetryDelay: 100,
      },
    });
    await refusing.track(...Array.from({ length: 100 }, (_, index) => `m${index}`));
    const dead = await refusing.settled('dead', 100);
    expect(new Set(dead.map((event) => event.type === 'dead' && event.reason))).toEqual(new Set([REASON]));
    expect(await refusing.service.deliveries({ reason: REASON }, { limit: 1_000 })).toHaveLength(100);
    expect(dead.filter(({ attempt }) => attempt === 0)).toEqual([]);
  });

  it('are why a delivery dies that one of them might have taken, whatever the others answered, and when', async () => {
    const { receiver } = await receive(sequence(status(500), status(404)));
    await resolveNames({ 'crm.internal': '10.1.2.3' });
    const started = await relay([`http://127.0.0.1:${receiver.port}/hook`, 'http://crm.internal/hook'], ['127.0.0.1']);
    await started.track('m1');
    expect(await started.settled('dead')).toMatchObject([{ attempt: 2, reason: REASON, results: [{ status: 404 }] }]);
  });

  it('have their private network in the value to set, and each is warned of once', async () => {
    await resolveNames({ 'crm.internal': '172.18.0.5', 'erp.internal': '169.254.1.2' });
    const urls = ['http://crm.internal/a', 'http://crm.internal/b', 'http://erp.internal/', 'http://unknown.internal/'];
    const started = await relay(urls, ['127.0.0.1']);
    await waitFor(() => started.log.matching(WARNING).length === 2);
    expect(started.log.matching(WARNING).map((line) => line.split('to ')[1]!.split(',')[0])).toEqual([
      'crm.internal',
      'erp.internal',
    ]);
    expect(started.log.matching(WARNING).map((line) => line.split('set ')[1])).toEqual([
      "delivery.allowedNetworks: ['127.0.0.1', '172.16.0.0/12']",
      "delivery.allowedNetworks: ['127.0.0.1', '172.16.0.0/12', '169.254.1.2/32']",
    ]);
  });

  it('are warned of where they are denied, with nothing to allow', async () => {
    await resolveNames({ 'crm.internal': '172.18.0.5', 'erp.example': '1.1.1.1' });
    const delivery = { ...SOON, allowedNetworks: ['172.16.0.0/12'], deniedNetworks: ['172.18.0.0/16', '1.1.1.1'] };
    const started = await relay(['https://crm.internal/a', 'http://erp.example/'], [], { delivery });
    await waitFor(() => started.log.matching(/^warn/).length === 2);
    expect(started.log.matching(/^warn/)).toEqual([
      'warn Destination Webhooks: nothing is sent to crm.internal, as 172.18.0.5 is in delivery.deniedNetworks',
      'warn Destination Webhooks: nothing is sent to erp.example, as 1.1.1.1 is in delivery.deniedNetworks',
    ]);
    await started.track('m1');
    expect((await started.settled('dead'))[0]).toMatchObject({ reason: REASON });
  });

  it('are refused to a proxy that may use any of their addresses', async () => {
    await resolveNames({ 'crm.example': ['1.1.1.1', '172.18.0.5'] });
    const delivery = { ...SOON, allowedNetworks: [], proxy: 'http://127.0.0.1:1' };
    const started = await relay(['https://crm.example/a'], [], { delivery });
    await waitFor(() => started.log.matching(WARNING).length > 0);
    await started.track('m1');
    expect(await started.settled('dead')).toMatchObject([
      { results: [{ error: 'address not allowed by delivery.allowedNetworks: it is not public' }] },
    ]);
  });

  it('hold up no start, whose look-ups may hang or fail', async () => {
    const server = await resolveNames({ 'hung.internal': 'silence' });
    for (const name of ['hung.internal', 'unknown.internal']) {
      const started = await relay([`http://${name}/`], []);
      await waitFor(() => server.asked.includes(name));
      await started.stop();
      expect(started.log.lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
    }
  });

  it('are warned of while the look-ups of other names hang', async () => {
    const server = await resolveNames({ 'silent.internal': 'silence', 'erp.internal': '172.18.0.5' });
    const started = await relay([], [], {
      destinations: [{ name: 'Silent', urls: ['http://silent.internal/'] }, { urls: ['http://erp.internal/'] }],
    });
    await warnedSetting(started);
    expect(server.asked).toContain('silent.internal');
  });

  it('are not looked up where nothing is delivered', async () => {
    const server = await resolveNames({ 'crm.internal': '10.1.2.3' });
    const shared = () => Object.assign(memoryQueue(), { isShared: true });
    const ingesting = await relay(['http://crm.internal/'], [], { queue: shared(), mode: 'ingest' });
    await ingesting.track('m1');
    await ingesting.stop();
    expect(server.asked).toEqual([]);
    const off = await relay([], [], {
      queue: memoryQueue(),
      destinations: [{ urls: ['http://crm.internal/'], enabled: false }],
    });
    await off.stop();
    expect(server.asked).toEqual([]);
    await relay(['http://crm.internal/'], [], { queue: shared(), mode: 'deliver' });
    await waitFor(() => server.asked.length > 0);
  });

  it('are warned of where they are public and a URL is not encrypted, once for each URL, without its secrets', async () => {
    await resolveNames({ 'a.example': '1.1.1.1', 'b.example': '2.2.2.2', 'crm.internal': '10.1.2.3' });
    const urls = [
      'http://user:s3cret@a.example/hook?key=s3cret',
      'http://a.example/other',
      'https://b.example/',
      'http://crm.internal/',
      'http://unknown.example/',
    ];
    const started = await relay([], [], {
      destinations: [{ urls }, { name: 'second', urls: ['http://a.example/hook', 'http://b.example:8080/'] }],
      delivery: { allowedNetworks: ['10.0.0.0/8'] },
    });
    const rest = 'cross public networks unencrypted. Use https; delivery.httpsOnly: true refuses such URLs at start';
    const expected = [
      `warn Destination Webhooks: messages to http://a.example/hook ${rest}`,
      `warn Destination Webhooks: messages to http://a.example/other ${rest}`,
      `warn Destination second: messages to http://b.example:8080/ ${rest}`,
    ];
    await waitFor(() => started.log.matching(/^warn/).length >= expected.length);
    expect(started.log.matching(/^warn/)).toEqual(expected);
  });
});
