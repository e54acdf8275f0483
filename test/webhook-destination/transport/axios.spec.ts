import { spawn } from 'node:child_process';
import { Agent as HttpsAgent } from 'node:https';
import { hostname } from 'node:os';

import { HttpModule, HttpService } from '@nestjs/axios';
import axios from 'axios';
import { verifySignature } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { createCertificates } from '../../support/certificates.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { type ReceivedWebhook, Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';
import { ScriptedReceiver, status } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

describe("delivery.transport 'axios'", () => {
  const cleanUp = useCleanUps();

  async function receive(): Promise<Receiver> {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    return receiver;
  }

  const NAMED = { axios: HttpService };

  async function relay(options: Parameters<typeof Relay.start>[0]): Promise<Relay> {
    const started = await Relay.start(options);
    cleanUp(() => started.stop());
    // An HttpModule without options has the axios of the whole process.
    cleanUp(() => Object.values(axios.interceptors).forEach((interceptors) => interceptors.clear()));
    return started;
  }

  const axiosOf = ({ app }: Relay) => app.get(HttpService, { strict: false }).axiosRef;

  /** Settings that sent a request elsewhere, otherwise, or with more than is meant for the receiver. */
  const hostile = (port: number): object => ({
    headers: {
      'X-Default': 'yes',
      'X-Env': 'of the application',
      Authorization: 'Bearer of-the-application',
      cookie: 'session=1',
      Host: 'elsewhere.example',
      'Content-Length': '1',
      'X-Signature': 'forged',
      common: { 'Proxy-Authorization': 'Basic x' },
      post: { Cookie: 'session=2' },
    },
    auth: { username: 'user', password: 'pass' },
    params: { key: 'of-the-application' },
    baseURL: `http://127.0.0.1:${port}/elsewhere`,
    allowAbsoluteUrls: false,
    proxy: { protocol: 'http', host: '127.0.0.1', port },
    httpVersion: 2,
    http2Options: { rejectUnauthorized: false },
    socketPath: '/tmp/none.sock',
    httpsAgent: new HttpsAgent({ rejectUnauthorized: false }),
    lookup: (_name: string, _options: object, done: (error: null, address: string, family: number) => void) =>
      done(null, '127.0.0.1', 4),
    family: 6,
    transport: { request: () => expect(true).toBe(false) },
    adapter: () => Promise.resolve({ status: 200, statusText: '', headers: {}, data: '', config: {} }),
    beforeRedirect: () => undefined,
    maxRedirects: 5,
    maxBodyLength: 1,
    maxContentLength: 1,
    maxRate: 1,
    timeout: 1,
    method: 'put',
    transformRequest: () => 'something else',
    transformResponse: () => {
      throw new Error('transformed');
    },
    validateStatus: () => false,
    signal: AbortSignal.abort(),
    responseType: 'json',
    decompress: true,
  });

  it('runs the interceptors of the HttpService that the options name, and sends its default headers', async () => {
    const receiver = await receive();
    const started = await relay({
      imports: [HttpModule.register({ headers: { 'X-Default': 'yes' } })],
      destinations: [{ urls: [receiver.url], sharedSecret: 'shh', headers: { 'X-Env': 'prod' } }],
      delivery: { transport: NAMED },
    });
    const answers: unknown[] = [];
    axiosOf(started).interceptors.request.use((config) => {
      config.headers.set('X-Trace', 'abc');
      config.headers.set('Authorization', 'Bearer of-an-interceptor');
      config.headers.set('x-env', 'test');
      config.headers.set('Host', 'elsewhere.example');
      return { ...config, url: 'http://127.0.0.1:1/', data: 'something else', params: { a: 1 } };
    });
    axiosOf(started).interceptors.response.use((response) => {
      answers.push(response.status, response.headers.date);
      return undefined as never;
    });
    await started.track('m1');
    await started.settled('delivered');
    const [webhook] = receiver.webhooks;
    expect(webhook).toMatchObject({
      path: '/hook',
      headers: {
        host: `127.0.0.1:${receiver.port}`,
        'x-trace': 'abc',
        'x-default': 'yes',
        'x-env': 'prod',
        authorization: 'Bearer of-an-interceptor',
        'x-message-id': 'm1',
        'user-agent': 'nestjs-analytics-relay/1.0',
      },
    });
    expect(verifySignature(webhook!.raw, webhook!.headers['x-signature'], 'shh')).toBe(true);
    expect(answers).toEqual([200, expect.any(String)]);
  });

  it('takes no setting of it by which a request would go elsewhere, otherwise, or with its credentials', async () => {
    const receiver = await receive();
    const started = await relay({
      imports: [HttpModule.register(hostile(receiver.port) as never)],
      destinations: [{ urls: [`${receiver.url}?a=1`], headers: { 'X-Env': 'prod' } }],
      delivery: { transport: NAMED },
    });
    await started.track('m1');
    await started.settled('delivered');
    expect(started.events).toHaveLength(1);
    const [{ method, path, headers, body }] = receiver.webhooks as [ReceivedWebhook];
    expect({ method, path, id: body['event'] }).toEqual({ method: 'POST', path: '/hook?a=1', id: 'Ordered' });
    expect(headers).toMatchObject({ host: `127.0.0.1:${receiver.port}`, 'x-default': 'yes', 'x-env': 'prod' });
    for (const name of ['authorization', 'cookie', 'proxy-authorization', 'x-signature']) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it('holds to the network policy and to certificates, whatever its defaults are', async () => {
    const untrusted = await ScriptedReceiver.start(status(200), createCertificates().selfSigned);
    cleanUp(() => untrusted.stop());
    const refused = await ScriptedReceiver.start(status(200), undefined, '0.0.0.0');
    cleanUp(() => refused.stop());
    const failure = async (url: string, network: string) => {
      const started = await relay({
        imports: [HttpModule.register(hostile(refused.port) as never)],
        destinations: [{ urls: [url] }],
        delivery: { transport: NAMED, allowedNetworks: [network] },
      });
      await started.track('m1');
      return (await started.settled('dead'))[0]!.results[0]!.error;
    };
    expect(await failure(untrusted.url, '127.0.0.1')).toContain('self-signed');
    expect(await failure(`http://${hostname()}:${refused.port}/hook`, '198.18.7.0/24')).toMatch(/is not public$/);
    expect([...untrusted.webhooks, ...refused.webhooks]).toEqual([]);
  });

  it('has nothing of the application without a name, nor of the defaults that all instances begin with', async () => {
    const receiver = await receive();
    const { defaults } = axios;
    defaults.headers.common['X-Global'] = 'yes';
    defaults.headers.post['Authorization'] = 'Bearer of-the-application';
    cleanUp(() => {
      delete defaults.headers.common['X-Global'];
      delete defaults.headers.post['Authorization'];
      return Promise.resolve();
    });
    const started = await relay({
      imports: [HttpModule.register(hostile(receiver.port) as never)],
      destinations: [{ urls: [receiver.url] }],
      delivery: { transport: 'axios' },
    });
    axiosOf(started).interceptors.request.use(() => Promise.reject(new Error('of the application')));
    await started.track('m1');
    await started.settled('delivered');
    expect(Object.keys(receiver.webhooks[0]!.headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-message-id',
    ]);
  });

  it('takes an interceptor that throws for a failure that may pass', async () => {
    const receiver = await receive();
    const started = await relay({
      imports: [HttpModule],
      destinations: [{ urls: [receiver.url] }],
      delivery: { transport: NAMED, initialRetryDelay: 20, maxRetryDelay: 20 },
    });
    let isBroken = true;
    axiosOf(started).interceptors.request.use((config) => {
      if (isBroken) throw new Error('no token yet');
      return config;
    });
    await started.track('m1');
    expect(await started.settled('retry')).toMatchObject([{ results: [{ error: 'no token yet' }] }]);
    isBroken = false;
    await started.settled('delivered');
  });

  it("counts the receiver's answer, whatever an interceptor makes of it", async () => {
    const receiver = await receive();
    const started = await relay({
      imports: [HttpModule],
      destinations: [{ urls: [receiver.url] }],
      delivery: { transport: NAMED },
    });
    axiosOf(started).interceptors.response.use(() => {
      throw new Error('of the interceptor');
    });
    await started.track('m1');
    await started.settled('delivered');
    expect(started.events).toHaveLength(1);
  });

  it('ends an attempt at its deadline whose interceptor hangs, and sends nothing afterwards', async () => {
    const receiver = await receive();
    const started = await relay({
      imports: [HttpModule],
      destinations: [{ urls: [receiver.url] }],
      delivery: { transport: NAMED, timeout: 100, initialRetryDelay: 60_000, maxRetryDelay: 60_000 },
    });
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    let passed = false;
    axiosOf(started).interceptors.request.use(async (config) => {
      await released;
      passed = true;
      return config;
    });
    await started.track('m1');
    expect(await started.settled('retry')).toMatchObject([{ results: [{ error: expect.stringMatching(/^timeout/) }] }]);
    release();
    await waitFor(() => passed);
    await started.stop();
    expect(receiver.webhooks).toEqual([]);
  });

  it.each([
    [
      'a token that no module provides',
      Symbol('none'),
      'delivery.transport names Symbol(none), which no module provides',
    ],
    ['a token of something else', 'other', 'delivery.transport names other, which is not an HttpService'],
  ])('refuses %s', async (_what, token, message) => {
    const starting = Relay.start({
      providers: [{ provide: 'other', useValue: {} }],
      delivery: { transport: { axios: token } },
    });
    await expect(starting).rejects.toThrow(message);
  });

  /** Starts an application in a process where a package cannot be found; resolves with what it prints. */
  async function startWithout(missing: string, transport: string): Promise<string> {
    const hooks = `export async function resolve(name, context, next) {
      if (name === ${JSON.stringify(missing)}) throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    }`;
    const script = `
      import { register } from 'node:module';
      register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hooks))});
      const { NestFactory } = await import('@nestjs/core');
      const { Module } = await import('@nestjs/common');
      const { memoryQueue, WebhookDestinationModule } = await import('nestjs-analytics-relay');
      class AppModule {}
      Module({
        imports: [
          WebhookDestinationModule.forRoot({
            sources: [],
            destinations: [],
            queue: memoryQueue(),
            delivery: { transport: '${transport}' },
          }),
        ],
      })(AppModule);
      try {
        await (await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false })).close();
        console.log('started');
      } catch (error) {
        console.log(error.message);
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await new Promise((resolve) => child.once('close', resolve));
    return output.trim();
  }

  it.each(['@nestjs/axios', 'axios'])('names the command that installs what is missing (%s)', async (missing) => {
    expect(await startWithout(missing, 'axios')).toBe(
      "delivery.transport 'axios' needs two more packages: npm install @nestjs/axios axios",
    );
  });

  it('is not loaded unless it is asked for', async () => {
    expect(await startWithout('@nestjs/axios', 'undici')).toBe('started');
  });
});
