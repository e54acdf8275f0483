import { inspect } from 'node:util';

import type { WebhookDestinationModuleOptions } from 'nestjs-analytics-relay';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { EgressProxy, proxyChoice } from '../../../lib/webhook-destination/transport/proxy.connector.js';
import { type Certificate, type Certificates, createCertificates } from '../../support/certificates.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { ConnectProxy } from '../../support/connect-proxy.js';
import { DnsServer } from '../../support/dns-server.js';
import { Relay } from '../../support/relay.js';
import { type Script, ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

const SOON = { initialRetryDelay: 20, maxRetryDelay: 40 };
const LATER = { initialRetryDelay: 60_000, maxRetryDelay: 60_000 };

/** Networks of a relay whose proxy enforces the policy. */
const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** RCODEs of a name server that cannot find out, that does not know the name, and that does not answer. */
const SERVFAIL = 2;
const NXDOMAIN = 3;
const REFUSED = 5;

const VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'];

function setVariables(values: Record<string, string> = {}): void {
  for (const name of VARIABLES) {
    if (values[name] === undefined) delete process.env[name];
    else process.env[name] = values[name];
  }
}

describe('delivery.proxy', () => {
  const cleanUp = useCleanUps();
  let certificates: Certificates;
  beforeAll(() => {
    certificates = createCertificates();
  });
  afterEach(() => setVariables());

  async function receive(certificate?: Certificate, script: Script = status(200)): Promise<ScriptedReceiver> {
    const receiver = await ScriptedReceiver.start(script, certificate);
    cleanUp(() => receiver.stop());
    return receiver;
  }

  async function start(...settings: Parameters<typeof ConnectProxy.start>): Promise<ConnectProxy> {
    const proxy = await ConnectProxy.start(...settings);
    cleanUp(() => proxy.stop());
    return proxy;
  }

  async function relay(
    url: string,
    delivery: WebhookDestinationModuleOptions['delivery'],
    options: Partial<WebhookDestinationModuleOptions> = {},
  ): Promise<Relay> {
    const started = await Relay.start({
      destinations: [{ urls: [url] }],
      ...options,
      delivery: { allowedNetworks: [], ca: certificates.ca, ...SOON, ...delivery },
    });
    cleanUp(() => started.stop());
    return started;
  }

  describe.each(['undici', 'axios'] as const)('with %s', (transport) => {
    it.each(['http', 'https'])(
      'connects to an %s receiver, whose name need not be known here if all networks are allowed',
      async (scheme) => {
        const receiver = await receive(scheme === 'https' ? certificates.trusted : undefined);
        const proxy = await start(receiver.port);
        // The certificate is for localhost: a name below it would be taken for this machine's.
        const host = scheme === 'https' ? 'localhost' : 'receiver.invalid';
        const started = await relay(`${scheme}://${host}/hook`, {
          transport,
          proxy: proxy.url(),
          allowedNetworks: EVERYWHERE,
        });
        await started.track('m1', 'm2');
        await started.settled('delivered', 2);
        expect(new Set(proxy.asked)).toEqual(new Set([`${host}:${scheme === 'https' ? 443 : 80}`]));
        expect(receiver.webhooks[0]).toMatchObject({ path: '/hook', headers: { host } });
      },
    );
  });

  it.each([
    ['selfSigned', 'permanent'],
    ['wrongName', 'permanent'],
    ['expired', 'temporary'],
  ] as const)(
    'sends nothing to a receiver behind it whose certificate (%s) is not to be trusted',
    async (kind, outcome) => {
      const receiver = await receive(certificates[kind]);
      const proxy = await start(receiver.port);
      const started = await relay('https://localhost/hook', { proxy: proxy.url(), allowedNetworks: ['localhost'] });
      await started.track('m1');
      await waitFor(() => started.events.length > 0);
      expect(started.events[0]).toMatchObject({ results: [{ outcome }] });
      expect(proxy.asked[0]).toBe('localhost:443');
      expect(receiver.webhooks).toEqual([]);
    },
  );

  it('may be one that speaks TLS, with a certificate to be trusted', async () => {
    const receiver = await receive(certificates.trusted);
    const trusted = await start(receiver.port, certificates.trusted);
    const started = await relay('https://localhost/hook', { proxy: trusted.url(), allowedNetworks: ['localhost'] });
    await started.track('m1');
    await started.settled('delivered');
    const selfSigned = await start(receiver.port, certificates.selfSigned);
    const refusing = await relay('https://localhost/hook', {
      proxy: selfSigned.url(),
      allowedNetworks: ['localhost'],
      ...LATER,
    });
    await refusing.track('m2');
    expect(await refusing.settled('retry')).toMatchObject([
      { results: [{ outcome: 'temporary', error: expect.stringMatching(/^the proxy .* self-signed/) }] },
    ]);
    expect(selfSigned.asked).toEqual([]);
    expect(receiver.webhooks).toHaveLength(1);
  });

  it('is asked for no address that the policy refuses, be it written, the name of this machine, or found', async () => {
    const receiver = await receive();
    const proxy = await start(receiver.port);
    // At start, a literal is refused as it is without a proxy.
    await expect(relay('http://10.1.2.3/hook', { proxy: proxy.url() })).rejects.toThrow('must not be a private');
    await expect(relay('http://localhost/hook', { proxy: proxy.url() })).rejects.toThrow('must not be a private');
    const started = await relay('http://localhost/hook', { proxy: proxy.url(), allowedNetworks: ['127.0.0.0/8'] });
    await started.track('m1');
    expect(await started.settled('dead')).toMatchObject([
      {
        results: [{ outcome: 'permanent', error: expect.stringMatching(/^address not allowed .*: it is not public$/) }],
      },
    ]);
    expect(proxy.asked).toEqual([]);
  });

  it('is refused itself only in a denied network', async () => {
    const receiver = await receive();
    const proxy = await start(receiver.port);
    const started = await relay('http://1.1.1.1/hook', {
      proxy: proxy.url(),
      deniedNetworks: ['localhost'],
      ...LATER,
    });
    await started.track('m1');
    expect(await started.settled('retry')).toMatchObject([
      { results: [{ error: expect.stringMatching(/^the proxy could not .*: it is in delivery\.deniedNetworks$/) }] },
    ]);
    expect(proxy.asked).toEqual([]);
  });

  it('gets the credentials in its URL, which nothing shows', async () => {
    const receiver = await receive();
    const proxy = await start(receiver.port, undefined, (socket) => {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    const url = proxy.url('us%40er:s3cret%21@');
    const started = await relay('http://receiver.invalid/hook', { proxy: url, allowedNetworks: EVERYWHERE, ...LATER });
    await started.track('m1');
    const [retry] = await started.settled('retry');
    expect(retry!.results[0]).toMatchObject({
      outcome: 'temporary',
      error: `the proxy could not connect to receiver.invalid:80: it answered 407`,
    });
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('us@er:s3cret!').toString('base64')}`]);
    const shown = [started.log.lines, started.events, inspect(new EgressProxy(url), { depth: 9, showHidden: true })];
    expect(JSON.stringify(shown)).not.toMatch(/s3cret|dXNAZXI/);
  });

  it.each([
    ['drops the connection', (socket) => socket.destroy()],
    ['answers 502', (socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n')],
    ['answers with something else', (socket) => socket.end('SSH-2.0-OpenSSH_9\r\n')],
    ['hangs', () => undefined],
  ] satisfies [string, NonNullable<Parameters<typeof ConnectProxy.start>[2]>][])(
    'is asked once for an attempt when it %s',
    async (_how, answer) => {
      const proxy = await start(0, undefined, answer);
      const settings = { proxy: proxy.url(), timeout: 1_000, allowedNetworks: EVERYWHERE, ...LATER };
      const started = await relay('http://receiver.invalid/hook', settings);
      await started.track('m1');
      expect(await started.settled('retry')).toMatchObject([{ results: [{ outcome: 'temporary' }] }]);
      expect(proxy.asked).toEqual(['receiver.invalid:80']);
    },
  );

  it('is not warned of for names that are unknown here, nor does it keep back what is dead', async () => {
    const receiver = await receive();
    const proxy = await start(receiver.port);
    const started = await relay('http://receiver.invalid/hook', { proxy: proxy.url(), allowedNetworks: EVERYWHERE });
    await started.track('m1');
    await started.settled('delivered');
    expect(started.log.matching(/^(warn|error) Destination/)).toEqual([]);
  });

  it.each<[name: string, how: string, answer: DnsServer['answers'][string], error: RegExp]>([
    ['silent.example', 'nothing', 'silence', /silent\.example are known here: the look-up took longer than 0\.5 s/],
    [
      'ipv4.example',
      'for IPv4 only',
      { ipv4: '127.0.0.1', ipv6: 'silence' },
      /ipv4\.example .* took longer than 0\.5 s/,
    ],
    ['ipv6.example', 'for IPv6 only', { ipv4: 'silence', ipv6: '::1' }, /ipv6\.example .* took longer than 0\.5 s/],
    ['failing.example', 'with a failure', SERVFAIL, /ESERVFAIL/],
    ['half.example', 'with a failure for IPv6', { ipv4: '127.0.0.1', ipv6: SERVFAIL }, /queryAaaa ESERVFAIL/],
    ['unknown.example', 'that it does not exist', NXDOMAIN, /ENOTFOUND|EAI_AGAIN/],
    ['none.example', 'that it has no address', [], /ENODATA|ENOTFOUND|EAI_AGAIN/],
    ['refused.example', 'that they do not know', REFUSED, /EREFUSED/],
    ['refusing.example', 'for IPv4 only, and refuse IPv6', { ipv4: '127.0.0.1', ipv6: REFUSED }, /queryAaaa EREFUSED/],
  ])(
    'is not asked for %s, for which name servers answer %s: the delivery is retried',
    async (name, _how, answer, error) => {
      const server = await DnsServer.start();
      cleanUp(() => server.stop());
      server.answers[name] = answer;
      const receiver = await receive();
      const proxy = await start(receiver.port);
      const settings = { proxy: proxy.url(), timeout: 1_000, allowedNetworks: ['localhost'], ...LATER };
      const started = await relay(`http://${name}/hook`, settings);
      await started.track('m1');
      const [retry] = await started.settled('retry');
      expect(retry!.results).toMatchObject([{ outcome: 'temporary', error: expect.stringMatching(error) }]);
      expect(retry!.results[0]!.error).toMatch(/ set delivery\.allowedNetworks: \['0\.0\.0\.0\/0', '::\/0'\]/);
      expect(proxy.asked).toEqual([]);
    },
  );

  it('is asked for no name that is unknown here while a network is denied, or one family is not allowed', async () => {
    const proxy = await start(0);
    for (const networks of [
      { allowedNetworks: EVERYWHERE, deniedNetworks: ['169.254.0.0/16'] },
      { allowedNetworks: ['0.0.0.0/0'] },
    ]) {
      const started = await relay('http://receiver.invalid/hook', { proxy: proxy.url(), ...networks, ...LATER });
      await started.track('m1');
      await started.settled('retry');
    }
    expect(proxy.asked).toEqual([]);
  });

  it("is the environment's on request, and none without it", async () => {
    const receiver = await receive();
    const proxy = await start(receiver.port);
    setVariables({ HTTP_PROXY: proxy.url(), HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: '127.0.0.1' });
    const through = await relay('http://receiver.invalid/hook', { proxy: 'environment', allowedNetworks: EVERYWHERE });
    await through.track('m1');
    await through.settled('delivered');
    const direct = await relay(receiver.url, { proxy: 'environment', allowedNetworks: ['localhost'] });
    await direct.track('m2');
    await direct.settled('delivered');
    const without = await relay('http://receiver.invalid/hook', LATER);
    await without.track('m3');
    expect((await without.settled('retry'))[0]!.results[0]!.error).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(proxy.asked).toEqual(['receiver.invalid:80']);
    await waitFor(() => receiver.webhooks.length === 2);
  });

  it.each<[variables: Record<string, string>, url: string, proxy: string | undefined]>([
    [{ HTTPS_PROXY: 'http://a:1' }, 'https://r.example/', 'http://a:1'],
    [{ HTTPS_PROXY: 'http://a:1' }, 'http://r.example/', undefined],
    [{ HTTP_PROXY: 'http://a:1' }, 'https://r.example/', undefined],
    [{ HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2' }, 'https://r.example/', 'http://b:2'],
    [{ HTTPS_PROXY: 'a:3128' }, 'https://r.example/', 'http://a:3128'],
    [{ HTTPS_PROXY: 'http://a:1/' }, 'https://r.example/', 'http://a:1'],
    [{ HTTPS_PROXY: '' }, 'https://r.example/', undefined],
    ...(
      [
        ['*', 'https://r.example/', false],
        ['r.example', 'https://r.example/', false],
        ['R.Example', 'https://r.example/', false],
        ['r.example', 'https://a.r.example/', false],
        ['.r.example', 'https://a.r.example/', false],
        ['*.r.example', 'https://a.r.example/', false],
        ['r.example', 'https://other.example/', true],
        ['r.example', 'https://otherr.example/', true],
        ['r.example:443', 'https://r.example/', false],
        ['r.example:8443', 'https://r.example/', true],
        ['r.example:8443', 'https://r.example:8443/', false],
        ['a.example, b.example', 'https://b.example/', false],
        ['a.example b.example', 'https://b.example/', false],
        ['10.1.2.3', 'https://10.1.2.3/', false],
        ['10.0.0.0/8', 'https://10.1.2.3/', false],
        ['10.0.0.0/8', 'https://11.1.2.3/', true],
        ['fd00::1', 'https://[fd00::1]/', false],
        ['[fd00::1]', 'https://[fd00::1]/', false],
        ['[fd00::1]:8443', 'https://[fd00::1]:8443/', false],
        ['fd00::/8', 'https://[fd00::1]/', false],
        ['10.0.0.0/99, , not/a/network', 'https://r.example/', true],
      ] as const
    ).map(([NO_PROXY, url, proxied]): [Record<string, string>, string, string | undefined] => [
      { HTTPS_PROXY: 'http://a:1', NO_PROXY },
      url,
      proxied ? 'http://a:1' : undefined,
    ]),
  ])('reads %j for %s', (variables, url, proxy) => {
    setVariables(variables);
    expect(proxyChoice('environment')(new URL(url))?.origin).toBe(proxy);
  });

  it.each(['socks5://a:1', 'http://a b', 'http://%zz@a:1'])(
    'stops the start where the environment has %s',
    async (value) => {
      setVariables({ HTTPS_PROXY: value });
      await expect(relay('https://r.example/', { proxy: 'environment' })).rejects.toThrow(
        "delivery.proxy is 'environment', so HTTPS_PROXY must be the http or https URL of a proxy",
      );
    },
  );
});
