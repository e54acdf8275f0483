import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';

import axios from 'axios';
import {
  FetchHTTPClient,
  keepAliveHttpClient,
  type HTTPClientRequest,
  type HTTPFetchFn,
  type HTTPResponse,
} from 'nestjs-analytics-relay/client';
import { useCleanUps } from '../support/clean-ups.js';
import { Forwarder } from '../support/forwarder.js';
import { RawReceiver } from '../support/raw-receiver.js';
import { collect, create, event, tracked } from './support/harness.js';

const ok: HTTPResponse = { status: 200, statusText: 'OK' };

describe('httpClient', () => {
  it('may be a function such as fetch', async () => {
    const fetchFn = vi.fn<HTTPFetchFn>().mockResolvedValue(ok);
    const analytics = create({ httpClient: fetchFn });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeUndefined();
    const [url, options] = fetchFn.mock.calls[0]!;
    expect(url).toBe('http://localhost:3000/v1/batch');
    expect(Object.keys(options).sort()).toEqual(['body', 'headers', 'method', 'redirect', 'signal']);
    expect(options).toMatchObject({ method: 'POST', headers: { 'Content-Type': 'application/json' } });
    expect(options.signal).toBeInstanceOf(AbortSignal);
    expect(JSON.parse(options.body)).toMatchObject({ batch: [{ event: 'Ordered' }], writeKey: 'wk_test' });
  });

  it('that is a function such as fetch is told to follow no redirect', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const collector = await collect({ status: 302, headers: { Location: '/elsewhere' } });
    const analytics = create({ host: collector.url, httpClient: (url, options) => fetch(url, options) });
    analytics.track(event());
    await analytics.flush();
    expect(collector.requests.map(({ path }) => path)).toEqual(['/v1/batch']);
    expect(warn.mock.calls[0]![0]).toContain('answered 302');
    warn.mockRestore();
  });

  it('may be an object with makeRequest, which keeps its this', async () => {
    const client = {
      requests: [] as HTTPClientRequest[],
      makeRequest(request: HTTPClientRequest) {
        this.requests.push(request);
        return Promise.resolve(ok);
      },
    };
    const analytics = create({ httpClient: client, httpRequestTimeout: 1234 });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeUndefined();
    const [request] = client.requests;
    expect(request).toMatchObject({
      url: 'http://localhost:3000/v1/batch',
      method: 'POST',
      headers: { 'User-Agent': 'nestjs-analytics-relay/1.0' },
      httpRequestTimeout: 1234,
    });
    expect(request!.data).toEqual(JSON.parse(request!.body));
  });

  it('may change the headers it gets without changing those of the next request', async () => {
    const seen: (string | undefined)[] = [];
    const makeRequest = ({ headers }: HTTPClientRequest) => {
      seen.push(headers.Extra);
      headers.Extra = 'set';
      return Promise.resolve(ok);
    };
    const analytics = create({ maxEventsInBatch: 1, httpClient: { makeRequest } });
    await tracked(analytics);
    await tracked(analytics);
    expect(seen).toEqual([undefined, undefined]);
  });

  it.each<[string, () => Promise<HTTPResponse>]>([
    [
      'throws',
      () => {
        throw new Error('of the client');
      },
    ],
    ['rejects', () => Promise.reject(new Error('of the client'))],
    [
      'answers with a body that cannot be read',
      () => Promise.resolve({ ...ok, text: () => Promise.reject(new Error('of the client')) }),
    ],
  ])('that %s counts as a network error', async (_how, makeRequest) => {
    const analytics = create({ maxRetries: 0, httpClient: { makeRequest } });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toHaveProperty('message', 'of the client');
  });

  it('that comes to a request only after it was given up, learns so', async () => {
    let request!: HTTPClientRequest;
    const makeRequest = (given: HTTPClientRequest) => {
      request = given;
      return new Promise<HTTPResponse>(() => undefined);
    };
    const analytics = create({ httpRequestTimeout: 10, maxRetries: 0, httpClient: { makeRequest } });
    analytics.track(event());
    await analytics.flush();
    const stop = vi.fn();
    request.onAbort!(stop);
    expect(stop).toHaveBeenCalledTimes(1);
    expect(request.signal!.aborted).toBe(true);
  });

  it.each<[string, (request: HTTPClientRequest) => HTTPClientRequest]>([
    ['the request itself', (request) => request],
    ['a copy of it', (request) => ({ ...request })],
  ])('may pass on %s, whose fields are those of axios', async (_what, passOn) => {
    const collector = await collect();
    const makeRequest = async (request: HTTPClientRequest): Promise<HTTPResponse> => {
      request.data!.extra = 'set';
      const { status, statusText } = await axios(passOn(request));
      return { status, statusText };
    };
    const analytics = create({ host: collector.url, httpClient: { makeRequest } });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeUndefined();
    expect(collector.requests[0]!.body).toMatchObject({ batch: [{ type: 'track' }], extra: 'set' });
  });

  it('may extend FetchHTTPClient, and its requests are given up in time', async () => {
    class Tagged extends FetchHTTPClient {
      override makeRequest(request: HTTPClientRequest) {
        return super.makeRequest({ ...request, headers: { ...request.headers, 'X-Tag': 'shop' } });
      }
    }
    const collector = await collect(() => undefined);
    const analytics = create({
      host: collector.url,
      httpRequestTimeout: 1_000,
      maxRetries: 0,
      httpClient: new Tagged(),
    });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeInstanceOf(Error);
    expect(collector.requests[0]!.headers).toMatchObject({ 'x-tag': 'shop' });
    await collector.closed();
  });

  it('that rejects with nothing fails the event all the same', async () => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- that is what is tested
    const makeRequest = () => Promise.reject(undefined);
    const analytics = create({ maxRetries: 0, httpClient: { makeRequest } });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeInstanceOf(Error);
  });

  it('may read the response itself', async () => {
    const collector = await collect();
    const bodies: string[] = [];
    const logged: HTTPFetchFn = async (url, options) => {
      const response = await fetch(url, options);
      bodies.push(await response.text());
      return response;
    };
    const analytics = create({ host: collector.url, httpClient: logged });
    const outcome = tracked(analytics);
    await analytics.flush();
    expect((await outcome).err).toBeUndefined();
    expect(bodies).toEqual(['{"success":true}']);
  });

  it('has its responses read once', async () => {
    const text = vi.fn(() => Promise.resolve('{}'));
    const analytics = create({ httpClient: () => Promise.resolve({ ...ok, text }) });
    analytics.on('http_response', () => undefined).track(event());
    await analytics.flush();
    expect(text).toHaveBeenCalledTimes(1);
  });
});

describe('keepAliveHttpClient', () => {
  it('opens no more connections than maxSockets', async () => {
    const collector = await collect((response) => setTimeout(() => response.end('{}'), 5));
    const httpClient = keepAliveHttpClient({ maxSockets: 3 });
    const analytics = create({ host: collector.url, maxEventsInBatch: 1, httpClient });
    for (let i = 0; i < 30; i++) analytics.track(event());
    await analytics.flush();
    expect(collector.messages).toHaveLength(30);
    expect(collector.connections).toBe(3);
  });

  it('takes an agent', async () => {
    const agent = new http.Agent();
    const createConnection = vi.spyOn(agent, 'createConnection' as never);
    const collector = await collect();
    const analytics = create({ host: collector.url, httpClient: keepAliveHttpClient({ agent }) });
    analytics.track(event());
    await analytics.flush();
    expect(collector.messages).toHaveLength(1);
    expect(createConnection).toHaveBeenCalledTimes(1);
  });

  it('can be shared by instances', async () => {
    const collector = await collect();
    const httpClient = keepAliveHttpClient();
    for (let i = 0; i < 3; i++) {
      const analytics = create({ host: collector.url, httpClient });
      analytics.track(event());
      await analytics.flush();
    }
    expect(collector.messages).toHaveLength(3);
    expect(collector.connections).toBe(1);
  });

  describe('where a NAT forgets idle connections without closing them', () => {
    const afterwards = useCleanUps();

    it('sends a retry on a new connection, so the batch is delivered although every idle one is dead', async () => {
      const collector = await collect((response) => setTimeout(() => response.end('{}'), 5));
      const nat = await Forwarder.start(afterwards, collector.url);
      const settings = { host: nat.url, maxEventsInBatch: 1, httpClient: keepAliveHttpClient() };
      const analytics = create(settings);
      for (let i = 0; i < 8; i++) analytics.track(event());
      await analytics.flush();
      expect(collector.connections).toBe(8);
      nat.mute();
      const later = create({ ...settings, maxRetries: 2, httpRequestTimeout: 500 });
      expect((await tracked(later)).err).toBeUndefined();
    });

    it('closes a connection that was idle for 4 s, before the NAT can forget it', async () => {
      const server = http.createServer({ keepAliveTimeout: 0 }, (request, response) => void request.pipe(response));
      const closed = new Promise<void>((resolve) => {
        server.on('connection', (socket) => socket.on('close', resolve));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      afterwards(() => new Promise((resolve) => server.close(resolve)));
      const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const analytics = create({ host, maxEventsInBatch: 1, httpClient: keepAliveHttpClient() });
      expect((await tracked(analytics)).err).toBeUndefined();
      const answeredAt = performance.now();
      await closed;
      expect(performance.now() - answeredAt).toBeGreaterThan(3_500);
    }, 15_000);
  });

  it('uses another connection at once where the receiver closed the idle one', async () => {
    // Closes each connection when a second request begins on it, as a receiver does whose idle timeout strikes then.
    let requests = 0;
    const server = http.createServer((request, response) => {
      requests++;
      request.resume().on('end', () => {
        response.end('{}');
        request.socket.once('data', () => request.socket.resetAndDestroy());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const analytics = create({
      host: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      maxEventsInBatch: 1,
      maxRetries: 0,
      httpClient: keepAliveHttpClient(),
    });
    for (let i = 0; i < 3; i++) {
      expect((await tracked(analytics)).err).toBeUndefined();
      await new Promise((resolve) => setImmediate(resolve)); // lets the connection go back to the agent
    }
    expect(requests).toBeGreaterThanOrEqual(3);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('sends nothing again by itself where a connection is reset within the response', async () => {
    const receiver = await RawReceiver.start((socket, index) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${index === 1 ? 9 : 2}\r\n\r\n{}`);
    });
    onTestFinished(() => receiver.stop());
    const { makeRequest } = keepAliveHttpClient({ maxSockets: 1 });
    const post = (body: string) =>
      makeRequest({ url: receiver.url, method: 'POST', headers: {}, body, httpRequestTimeout: 10_000 });
    await post('1');
    await new Promise((resolve) => setImmediate(resolve)); // lets the connection go back to the agent
    const reset = () => receiver.sockets.forEach((socket) => socket.resetAndDestroy());
    subscribe('http.client.response.finish', reset);
    onTestFinished(() => void unsubscribe('http.client.response.finish', reset));
    await expect(post('2')).rejects.toMatchObject({ code: 'ECONNRESET' });
    unsubscribe('http.client.response.finish', reset);
    await post('3'); // on the only connection, so after what the client sends by itself
    expect(receiver.requests.map((request) => request.at(-1))).toEqual(['1', '2', '3']);
  });

  it('ends a request by itself after httpRequestTimeout, where nobody else does', async () => {
    const collector = await collect(() => undefined);
    const request = { url: collector.url, method: 'POST', headers: {}, body: '{"batch":[]}' } as const;
    await expect(keepAliveHttpClient().makeRequest({ ...request, httpRequestTimeout: 30 })).rejects.toThrow('aborted');
    await collector.closed();
  });
});
