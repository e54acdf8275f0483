import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  memoryQueue,
  WebhookDestinationModule,
  WebhookDestinationService,
  type WebhookRequest,
  type WebhookResponse,
  type WebhookTransport,
} from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';
import { waitFor } from '../../support/wait-for.js';

const LATER = { initialRetryDelay: 60_000, maxRetryDelay: 60_000 };

@Injectable()
class FetchTransport implements WebhookTransport {
  async post({ url, headers, body, signal }: WebhookRequest): Promise<WebhookResponse> {
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    await response.body?.cancel();
    return { status: response.status, headers: Object.fromEntries(response.headers) };
  }
}

@Module({ providers: [FetchTransport], exports: [FetchTransport] })
class TransportModule {}

describe("A transport of the application's", () => {
  const cleanUp = useCleanUps();

  async function relay(post: WebhookTransport['post'], delivery: object = {}): Promise<Relay> {
    const started = await Relay.start({
      destinations: [{ urls: ['https://user:pass@receiver.example/hook?a=1'], headers: { 'X-Env': 'prod' } }],
      delivery: { transport: { post }, ...LATER, ...delivery },
    });
    cleanUp(() => started.stop());
    return started;
  }

  it('may be a provider, and sends what it is given', async () => {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    receiver.statuses = [429, 200];
    const app = await Test.createTestingModule({
      imports: [
        WebhookDestinationModule.forRootAsync({
          imports: [TransportModule],
          inject: [FetchTransport],
          useFactory: (transport: FetchTransport) => ({
            sources: [{ name: 'shop', writeKey: 'wk_shop' }],
            destinations: [{ urls: [receiver.url] }],
            queue: memoryQueue(),
            delivery: { transport, allowedNetworks: ['localhost'], initialRetryDelay: 20, maxRetryDelay: 20 },
          }),
        }),
      ],
    }).compile();
    await app.init();
    cleanUp(() => app.close());
    const message = { type: 'track', userId: 'u1', event: 'Ordered', messageId: 'm1' };
    await app.get(WebhookDestinationService).accept('wk_shop', [message]);
    await waitFor(() => receiver.webhooks.length === 2);
    expect(receiver.webhooks[0]).toMatchObject({ method: 'POST', headers: { 'x-message-id': 'm1' } });
    expect(receiver.webhooks[0]!.raw).toEqual(receiver.webhooks[1]!.raw);
  });

  it('gets the URL without user info, which is in the headers, and an answer of its own Retry-After', async () => {
    const requests: WebhookRequest[] = [];
    const started = await relay((request) => {
      requests.push(request);
      return Promise.resolve({ status: 503, headers: { 'retry-after': '3600' } });
    });
    await started.track('m1');
    const [retry] = await started.settled('retry');
    expect(retry!.type === 'retry' && retry!.nextAttemptAt - Date.now()).toBeGreaterThan(3_000_000);
    expect(requests).toMatchObject([
      {
        url: 'https://receiver.example/hook?a=1',
        headers: { Authorization: 'Basic dXNlcjpwYXNz', 'X-Env': 'prod', 'X-Message-Id': 'm1' },
      },
    ]);
    expect(JSON.parse(requests[0]!.body.toString())).toMatchObject({ event: 'Ordered' });
  });

  it('gets one Authorization, that of the destination if it has one in any case', async () => {
    const requests: WebhookRequest[] = [];
    const post = (request: WebhookRequest) => {
      requests.push(request);
      return Promise.resolve({ status: 200 });
    };
    const started = await Relay.start({
      destinations: [
        { urls: ['https://user:pass@receiver.example/hook'], headers: { authorization: 'Bearer of-the-destination' } },
      ],
      delivery: { transport: { post } },
    });
    cleanUp(() => started.stop());
    await started.track('m1');
    await started.settled('delivered');
    const sent = Object.entries(requests[0]!.headers).filter(([name]) => /^authorization$/i.test(name));
    expect(sent).toEqual([['Authorization', 'Bearer of-the-destination']]);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('of the application');
      },
      'of the application',
    ],
    ['rejects', () => Promise.reject(new Error('of the application')), 'of the application'],
    ['resolves without a status', () => Promise.resolve(undefined), 'the transport resolved without a status'],
    ['never ends', () => new Promise(() => undefined), 'timeout: no complete answer within 200 ms'],
  ])('fails the attempt for now when it %s', async (_how, post, error) => {
    const signals: AbortSignal[] = [];
    const started = await relay(
      ({ signal }) => {
        signals.push(signal);
        return post() as Promise<WebhookResponse>;
      },
      { timeout: 200 },
    );
    await started.track('m1');
    expect(await started.settled('retry')).toMatchObject([{ results: [{ outcome: 'temporary', error }] }]);
    expect(signals[0]!.aborted).toBe(error.startsWith('timeout'));
  });

  it.each<[what: string, thrown: unknown]>([
    ['an error', new Error('x'.repeat(1_000_000))],
    ['a text', 'x'.repeat(1_000_000)],
  ])('that rejects with %s of a million characters leaves a thousand of them', async (_what, thrown) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an application may
    const started = await relay(() => Promise.reject(thrown));
    await started.track('m1');
    await started.settled('retry');
    const [delivery] = await started.service.deliveries({ messageId: 'm1' });
    expect(delivery!.attempts[0]!.results[0]!.error).toBe(`${'x'.repeat(999)}…`);
    for (const line of started.log.lines) expect(line.length).toBeLessThan(1_500);
  });

  it('is told when the application closes, and is not asked any more', async () => {
    const signals: AbortSignal[] = [];
    const started = await relay(
      ({ signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
      { timeout: 60_000 },
    );
    await started.track('m1');
    await waitFor(() => signals.length === 1);
    await started.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
