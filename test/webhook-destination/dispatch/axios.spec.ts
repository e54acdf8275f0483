import { spawn } from 'node:child_process';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

import { HttpModule, HttpService } from '@nestjs/axios';
import { describe, expect, it } from '@jest/globals';

import { useCleanUps } from '../../support/clean-ups.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';

describe("delivery.transport 'axios'", () => {
  const cleanUp = useCleanUps();

  async function receive(): Promise<Receiver> {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    return receiver;
  }

  it("goes through the application's HttpService, its interceptors and its defaults", async () => {
    const receiver = await receive();
    const relay = await Relay.start({
      imports: [HttpModule.register({ headers: { 'X-Default': 'yes' }, timeout: 1, maxRedirects: 5 })],
      destinations: [{ urls: [receiver.url], sharedSecret: 'shh' }],
      delivery: { transport: 'axios' },
    });
    cleanUp(() => relay.stop());
    const answers: number[] = [];
    const { axiosRef } = relay.app.get(HttpService, { strict: false });
    axiosRef.interceptors.request.use((config) => {
      config.headers.set('X-Trace', 'abc');
      return config;
    });
    axiosRef.interceptors.response.use((response) => {
      answers.push(response.status);
      return response;
    });
    await relay.track('m1');
    await relay.settled('delivered');
    expect(receiver.webhooks[0]!.headers).toMatchObject({
      'x-trace': 'abc',
      'x-default': 'yes',
      'x-message-id': 'm1',
      'user-agent': 'nestjs-analytics-relay/1.0',
    });
    expect(answers).toEqual([200]);
  });

  it('takes an interceptor that throws for a failure that may pass', async () => {
    const receiver = await receive();
    const relay = await Relay.start({
      imports: [HttpModule],
      destinations: [{ urls: [receiver.url] }],
      delivery: { transport: 'axios', initialRetryDelay: 20, maxRetryDelay: 20 },
    });
    cleanUp(() => relay.stop());
    let isBroken = true;
    relay.app.get(HttpService, { strict: false }).axiosRef.interceptors.request.use((config) => {
      if (isBroken) throw new Error('no token yet');
      return config;
    });
    await relay.track('m1');
    expect(await relay.settled('retry')).toMatchObject([{ results: [{ error: 'no token yet' }] }]);
    isBroken = false;
    await relay.settled('delivered');
  });

  it('goes through the proxy of the application, whose address the network policy has to allow', async () => {
    const receiver = await receive();
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(request.url!);
      const { method, headers } = request;
      request.pipe(
        httpRequest({ port: receiver.port, path: '/proxied', method, headers }, (answer) => {
          response.writeHead(answer.statusCode!);
          answer.pipe(response);
        }),
      );
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    cleanUp(() => new Promise((resolve) => proxy.close(resolve)));
    const { port } = proxy.address() as AddressInfo;
    const start = async (allowedNetworks: string[]) => {
      const relay = await Relay.start({
        imports: [HttpModule.register({ proxy: { protocol: 'http', host: '127.0.0.1', port } })],
        destinations: [{ urls: ['http://receiver.example/hook'] }],
        delivery: { transport: 'axios', allowedNetworks },
      });
      cleanUp(() => relay.stop());
      await relay.track('m1');
      return relay;
    };
    await (await start(['127.0.0.0/8'])).settled('delivered');
    expect(seen).toEqual(['http://receiver.example/hook']);
    expect(receiver.webhooks).toHaveLength(1);
    expect(await (await start(['10.0.0.0/8'])).settled('dead')).toMatchObject([
      { results: [{ error: expect.stringContaining('is not public') }] },
    ]);
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
