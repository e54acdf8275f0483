import { Controller, Get } from '@nestjs/common';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { platforms } from '../../support/platforms.js';
import { post } from '../../support/post.js';
import { sendRaw } from '../../support/raw-http.js';
import { startRelayApp } from '../../support/relay.app.js';

const settingsOf = (apiHost: string, protocol: string) => ({
  integrations: { 'Segment.io': { apiKey: 'wk_shop', apiHost, protocol } },
  plan: { track: { __default: { enabled: true } } },
  edgeFunction: {},
  middlewareSettings: {},
  enabledMiddleware: {},
  metrics: { sampleRate: 0 },
  analyticsNextEnabled: true,
  legacyVideoPluginsEnabled: false,
  remotePlugins: [],
});

@Controller('v1/projects')
class ProjectsController {
  @Get(':id/settings')
  settings(): string {
    return "the application's own";
  }
}

describe.each(platforms)('The settings of an SDK on $platform', ({ createAdapter }) => {
  const afterwards = useCleanUps();
  const start = (options: Parameters<typeof startRelayApp>[2] = {}) =>
    startRelayApp(afterwards, createAdapter(), options);

  it.each([
    ['v1', '/v1/projects/wk_shop/settings'],
    ['v1', '/v1/projects/wk%5Fshop/settings/?_=1'],
    ['v1', '//v1/projects/wk_shop/settings'],
    ['v1', '/v1/v1/projects/wk_shop/settings'],
    ['collect', '/collect/projects/wk_shop/settings'],
    ['collect', '/collect/v1/projects/wk_shop/settings'],
    ['collect', '/v1/projects/wk_shop/settings'],
  ])('name the host of the request and the prefix %s at %s', async (prefix, path) => {
    const { host } = await start({ options: { ingest: { prefix, cors: true } } });
    const answer = await fetch(`${host}${path}`, { headers: { Origin: 'https://shop.example' } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(settingsOf(`${new URL(host).host}/${prefix}`, 'http'));
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'private, max-age=300',
      'content-type': 'application/json; charset=utf-8',
    });
  });

  it('name the host that a proxy forwards, from an address that may be a proxy', async () => {
    const { host } = await start({ options: { ingest: { cors: { origin: 'https://shop.example' } } } });
    const headers = { 'X-Forwarded-Proto': 'https, http', 'X-Forwarded-Host': 'relay.example, inner' };
    const answer = await fetch(`${host}/v1/projects/wk_shop/settings`, { headers });
    expect(await answer.json()).toEqual(settingsOf('relay.example/v1', 'https'));
    expect(answer.headers.get('vary')).toBe('Origin, X-Forwarded-Host, X-Forwarded-Proto');
  });

  it('name the host of ingest.publicUrl', async () => {
    const publicUrl = 'https://example.com:8443/relay/';
    const { host } = await start({ options: { ingest: { publicUrl } } });
    const headers = { 'X-Forwarded-Host': 'other.example' };
    const answer = await fetch(`${host}/v1/projects/wk_shop/settings`, { headers });
    expect(await answer.json()).toEqual(settingsOf('example.com:8443/relay/v1', 'https'));
  });

  it('ignore a Host that is no host', async () => {
    const { host } = await start();
    const { text } = await sendRaw(
      host,
      'GET /v1/projects/wk_shop/settings HTTP/1.1\r\nHost: evil.example/path?\r\nConnection: close\r\n\r\n',
    );
    expect(text).toContain('"apiHost":"localhost/v1"');
  });

  it('are refused for an unknown key with 404, and with 429 after 60 of them', async () => {
    const { host } = await start();
    const ask = () => fetch(`${host}/v1/projects/wk_other/settings`);
    const first = await ask();
    expect([first.status, await first.json()]).toEqual([
      404,
      { code: 'write_key_unknown', field: 'writeKey', message: 'no source has this write key' },
    ]);
    for (let count = 1; count < 60; count++) await ask();
    const limited = await ask();
    expect([limited.status, limited.headers.has('retry-after')]).toEqual([429, true]);
  });

  it("leave the application's own route alone, where another prefix was set and the key is unknown", async () => {
    const { host } = await start({
      options: { ingest: { prefix: 'collect' } },
      metadata: { controllers: [ProjectsController] },
    });
    const text = async (path: string) => (await fetch(`${host}${path}`)).text();
    expect(await text('/v1/projects/1017/settings')).toBe("the application's own");
    expect((await post(`${host}/v1/projects/wk_shop/settings`, {})).status).toBe(404);
  });

  it.each(['relay.example', 'ftp://relay.example', 'https://user@relay.example', 'https://relay.example?a=1'])(
    'do not start with ingest.publicUrl %s',
    async (publicUrl) => {
      await expect(start({ options: { ingest: { publicUrl } } })).rejects.toThrow(
        'ingest.publicUrl must be an http or https URL',
      );
    },
  );
});
