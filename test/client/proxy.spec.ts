import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

import { keepAliveHttpClient } from 'nestjs-analytics-relay/client';
import { describe, expect, it } from 'vitest';

import { createCertificates } from '../support/certificates.js';
import { useCleanUps } from '../support/clean-ups.js';
import { ConnectProxy } from '../support/connect-proxy.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { collect } from './support/harness.js';

/** Records events one after the other, by the named HTTP client, and writes the errors of their callbacks. */
const program = `
import { Analytics, keepAliveHttpClient } from 'nestjs-analytics-relay/client';
const [host, client, count] = process.argv.slice(1);
const httpClient = client === 'default' ? undefined : keepAliveHttpClient();
const analytics = new Analytics({ writeKey: 'k', host, httpClient, maxEventsInBatch: 1, maxRetries: 0 });
for (let i = 0; i < count; i++) {
  const error = await new Promise((resolve) => analytics.track({ userId: 'u', event: 'E' }, resolve));
  console.log(error ? error.message : 'delivered');
}
`;

const run = promisify(execFile);

describe.each(['default', 'keepAliveHttpClient'])('With NODE_USE_ENV_PROXY=1, the HTTP client (%s)', (client) => {
  const afterwards = useCleanUps();
  const certificates = createCertificates();

  async function startProxy(port: number, answer?: Parameters<typeof ConnectProxy.start>[2]): Promise<ConnectProxy> {
    const proxy = await ConnectProxy.start(port, undefined, answer);
    afterwards(() => proxy.stop());
    return proxy;
  }

  async function record(host: string, variables: Record<string, string>, count = 1): Promise<string[]> {
    const ca = (await temporaryFolder(afterwards)).path('ca.pem');
    writeFileSync(ca, certificates.ca);
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: ca, NODE_USE_ENV_PROXY: '1', ...variables };
    const args = ['--input-type=module', '-e', program, host, client, String(count)];
    const { stdout } = await run(process.execPath, args, { env });
    return stdout.trim().split('\n');
  }

  it('connects through HTTP_PROXY, with its credentials, and keeps the connection', async () => {
    const collector = await collect();
    const proxy = await startProxy(Number(new URL(collector.url).port));
    const outcomes = await record('http://relay.example:8080', { HTTP_PROXY: proxy.url('user:p%40ss@') }, 2);
    expect(outcomes).toEqual(['delivered', 'delivered']);
    expect(new Set(proxy.asked)).toEqual(new Set(['relay.example:8080']));
    if (client !== 'default') expect(proxy.asked).toHaveLength(1); // `fetch` of Node 24 connects twice
    expect(proxy.credentials[0]).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
    expect(collector.messages).toHaveLength(2);
  });

  it('connects through HTTPS_PROXY, with TLS to the relay itself', async () => {
    const server = createServer(certificates.trusted, (request, response) => void request.pipe(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    afterwards(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const proxy = await startProxy(port);
    expect(await record(`https://localhost:${port}`, { HTTPS_PROXY: proxy.url() }, 2)).toEqual([
      'delivered',
      'delivered',
    ]);
    expect(proxy.asked[0]).toBe(`localhost:${port}`);
  });

  it('connects directly to the hosts in NO_PROXY', async () => {
    const collector = await collect();
    const proxy = await startProxy(1);
    const variables = { HTTP_PROXY: proxy.url(), NO_PROXY: 'shop.example,127.0.0.1' };
    expect(await record(collector.url, variables)).toEqual(['delivered']);
    expect(proxy.asked).toEqual([]);
  });

  it('fails an event whose proxy refuses to connect', async () => {
    const proxy = await startProxy(1, (socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
    const [outcome] = await record('http://relay.example', { HTTP_PROXY: proxy.url('user:secret@') });
    expect(outcome).toMatch(
      /fetch failed|^The proxy http:\/\/127.* could not connect to relay.example:80: it answered 403$/,
    );
    expect(outcome).not.toContain('secret');
  });
});

describe('The HTTP client', () => {
  const afterwards = useCleanUps();

  it('refuses a variable that is not the URL of a proxy, and reads it only with NODE_USE_ENV_PROXY=1', () => {
    process.env.HTTPS_PROXY = 'socks5://user:secret@127.0.0.1';
    afterwards(() => {
      delete process.env.HTTPS_PROXY;
      delete process.env.NODE_USE_ENV_PROXY;
    });
    expect(() => keepAliveHttpClient()).not.toThrow();
    process.env.NODE_USE_ENV_PROXY = '1';
    expect(() => keepAliveHttpClient()).toThrow(
      'keepAliveHttpClient: HTTPS_PROXY must be the http or https URL of a proxy',
    );
  });
});
