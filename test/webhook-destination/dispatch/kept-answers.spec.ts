import { gzipSync } from 'node:zlib';

import type { WebhookTransport } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { Relay } from '../../support/relay.js';
import { drip, type Script, ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { waitFor } from '../../support/wait-for.js';

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };

/** Answers with a status, headers and a body. */
const answer =
  (body: string | Buffer, headers: Record<string, string> = HTML, code = 500): Script =>
  (response) =>
    void response.writeHead(code, headers).end(body);

/** The application's own, on `fetch`. */
const own: WebhookTransport = {
  post: async ({ url, headers, body, signal }) => {
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body), signal });
    const content = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: Object.fromEntries(response.headers), body: content };
  },
};

const TRANSPORTS = [
  ['undici', 'undici'],
  ['axios', 'axios'],
  ["the application's own", own],
] as const;

const cleanUp = useCleanUps();

async function start(script: Script, delivery: object = {}, destination: object = {}, path = '') {
  const receiver = await ScriptedReceiver.start(script);
  cleanUp(() => receiver.stop());
  const relay = await Relay.start({
    destinations: [{ urls: [receiver.url + path], ...destination }],
    delivery: { initialRetryDelay: 60_000, maxRetryDelay: 60_000, ...delivery },
  });
  cleanUp(() => relay.stop());
  return { receiver, relay };
}

/** The results of the only delivery, one for each attempt. */
async function resultsOf(relay: Relay, attempts = 1) {
  await relay.track('m1');
  const stored = async () => (await relay.service.deliveries({}))[0]!.attempts;
  await waitFor(async () => (await stored()).length >= attempts);
  return (await stored()).flatMap(({ results }) => results);
}

describe.each(TRANSPORTS)('The answer to a failed attempt with the transport %s', (_name, transport) => {
  it('is kept with its type', async () => {
    const { relay } = await start(answer('<h1>Déjà tombé</h1>\n'), { transport });
    const [result] = await resultsOf(relay);
    expect(result).toMatchObject({ status: 500, outcome: 'temporary' });
    expect(result!.answer).toEqual({ type: 'text/html', text: '<h1>Déjà tombé</h1>\n', bytes: 23 });
  });

  it.each<[string, Script, object]>([
    [
      'text in its charset',
      answer(Buffer.from('caf\xe9', 'latin1'), { 'Content-Type': 'text/plain; charset=iso-8859-1' }),
      { type: 'text/plain', text: 'café', bytes: 4 },
    ],
    [
      'text of an unknown charset as UTF-8',
      answer('café', { 'Content-Type': 'text/plain;charset=klingon' }),
      { type: 'text/plain', text: 'café', bytes: 5 },
    ],
    ['text that is not valid UTF-8', answer(Buffer.from('a\xff!', 'latin1'), {}), { text: 'a\ufffd!', bytes: 3 }],
    [
      'a permanent failure',
      answer('{"error":"no such hook"}', { 'Content-Type': 'Application/JSON' }, 404),
      { type: 'application/json', text: '{"error":"no such hook"}', bytes: 24 },
    ],
    [
      'binary content without its text',
      answer(Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0]), { 'Content-Type': 'image/png' }),
      { type: 'image/png', bytes: 10 },
    ],
    ['an invalid type', answer('x', { 'Content-Type': 'so it goes' }), { text: 'x', bytes: 1 }],
    ['no body', status(500), undefined as unknown as object],
  ])('is kept: %s', async (_what, script, expected) => {
    const { relay } = await start(script, { transport });
    expect((await resultsOf(relay))[0]!.answer).toEqual(expected);
  });

  it('is kept without a private key, which a receiver may have by mistake, and its signature', async () => {
    const secret = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc=';
    const echo: Script = (response, _index, { headers }) => {
      const signature = headers['webhook-signature'];
      response
        .writeHead(500, { 'Content-Type': 'text/plain' })
        .end(JSON.stringify({ secret, key: secret.slice(5), signature }));
    };
    const { relay } = await start(echo, { transport }, { sharedSecret: secret });
    const { text } = (await resultsOf(relay))[0]!.answer!;
    expect(JSON.parse(text!)).toEqual({ secret: '***', key: '***', signature: '***' });
  });

  it('is kept without what the request has of secrets and internal addresses', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const echo: Script = (response, _index, { headers, url }) => {
      const all = {
        headers,
        url,
        expected: secret,
        upstream: 'http://10.1.2.3:8080/',
        v6: '[fd00::12]',
        php: 'a\\/b+c/d',
      };
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end(JSON.stringify(all));
    };
    const key = 'k"3y <of> the shop';
    const { relay } = await start(
      echo,
      { transport },
      { sharedSecret: secret, headers: { 'X-Key': key, Authorization: 'Bearer t0ken-of-the-shop' } },
      '/T0AB12CD34EF56GH78?key=q-s3cret',
    );
    const { text } = (await resultsOf(relay))[0]!.answer!;
    expect(text).toContain('"x-message-id":"m1"');
    expect(text).toContain('"x-signature":"***"');
    expect(text).toContain('http://***:8080/');
    for (const hidden of ['MfKQ9r8', 'k\\"3y', 't0ken', 'T0AB12', 'q-s3cret', '10.1.2.3', 'fd00', 'v1,']) {
      expect(text).not.toContain(hidden);
    }
  });

  it('is not kept if it is a success', async () => {
    const { relay } = await start(answer('thanks', HTML, 200), { transport });
    const [result] = await resultsOf(relay);
    expect(result).toMatchObject({ status: 200, outcome: 'success' });
    expect(result).not.toHaveProperty('answer');
  });

  it('is not kept with keepAnswers: false', async () => {
    const { relay } = await start(answer('down'), { transport, keepAnswers: false });
    const [result] = await resultsOf(relay);
    expect(result).toMatchObject({ status: 500 });
    expect(result).not.toHaveProperty('answer');
  });

  it('leaves the time limit as it is', async () => {
    const { receiver, relay } = await start(
      (response, ...rest) => {
        const writeHead = response.writeHead.bind(response);
        response.writeHead = () => writeHead(500);
        drip(response, ...rest);
      },
      { transport, timeout: 300 },
    );
    const [result] = await resultsOf(relay);
    expect(result!.error).toContain('timeout');
    expect(result!.duration).toBeLessThan(3_000);
    expect(result).not.toHaveProperty('answer');
    await waitFor(() => receiver.sockets.size === 0);
  });
});

describe.each(['undici', 'axios'] as const)('With the transport %s', (transport) => {
  it('an answer of 10 MB is kept by its beginning, and its connection closed', async () => {
    const { receiver, relay } = await start(answer('é'.repeat(5_000_000)), { transport });
    const { text, bytes, type } = (await resultsOf(relay))[0]!.answer!;
    expect({ text, type }).toEqual({ text: 'é'.repeat(512), type: 'text/html' });
    expect(bytes).toBeGreaterThan(64 * 1_024);
    expect(bytes).toBeLessThan(1_000_000);
    await waitFor(() => receiver.sockets.size === 0);
  });

  it('a character or a secret that is cut is left out', async () => {
    const secret = 'a-shared-s3cret-of-some-length';
    const { relay } = await start(answer(`${'x'.repeat(1_010)} ${secret}`), { transport }, { sharedSecret: secret });
    expect((await resultsOf(relay))[0]!.answer!.text).toBe(`${'x'.repeat(1_010)} `);
    const cut = await start(answer(`a${'é'.repeat(1_000)}`), { transport });
    expect((await resultsOf(cut.relay))[0]!.answer!.text).toBe(`a${'é'.repeat(511)}`);
    const address = await start(answer(`${'x'.repeat(1_015)} 10.11.12.13`), { transport });
    expect((await resultsOf(address.relay))[0]!.answer!.text).toBe(`${'x'.repeat(1_015)} `);
  });

  it('a secret is left out that an interrupted answer ends with', async () => {
    const secret = 'a-shared-s3cret-of-some-length';
    const { relay } = await start(
      (response) => {
        response.writeHead(502, { ...HTML, 'Content-Length': '100' });
        response.write(`expected ${secret.slice(0, 20)}`, () => response.destroy());
      },
      { transport },
      { sharedSecret: secret },
    );
    expect((await resultsOf(relay))[0]!.answer!.text).toBe('expected ');
  });

  it('a compressed answer is kept without its text', async () => {
    const body = gzipSync('<h1>Down</h1>');
    const { relay } = await start(answer(body, { ...HTML, 'Content-Encoding': 'gzip' }), { transport });
    expect((await resultsOf(relay))[0]!.answer).toEqual({ type: 'text/html', bytes: body.length });
  });

  it('the beginning of an answer that is cut off is kept, with the error', async () => {
    const { relay } = await start(
      (response) => {
        response.writeHead(502, { ...HTML, 'Content-Length': '100' });
        response.write('bad gateway', () => response.destroy());
      },
      { transport },
    );
    expect((await resultsOf(relay))[0]).toMatchObject({
      status: 502,
      error: expect.any(String),
      answer: { type: 'text/html', text: 'bad gateway', bytes: 11 },
    });
  });
});

describe('A secret in an answer', () => {
  const secret = 'a/shared+s3cret="of some" length';
  const inHtml = secret.replace(/\W/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
  const inDecimal = secret.replace(/\W/g, (character) => `&#${character.charCodeAt(0)};`);
  const inJson = JSON.stringify(secret).slice(1, -1);

  it.each([
    ['HTML with hexadecimal references', inHtml],
    ['HTML with decimal references', inDecimal],
    ['JSON', inJson.replaceAll('/', '\\/')],
    ['JSON with escapes of Unicode', secret.replaceAll('/', '\\u002f').replaceAll('"', '\\u0022')],
    ['a URL', encodeURIComponent(secret)],
    ['a form', String(new URLSearchParams({ '': secret })).slice(1)],
    ['JSON in HTML', inJson.replaceAll('/', '\\&#x2F;').replaceAll('"', '&quot;')],
  ])('is replaced as %s spells it', async (_where, spelled) => {
    const { relay } = await start(answer(`<p>expected ${spelled}, got nothing</p>`), {}, { sharedSecret: secret });
    expect((await resultsOf(relay))[0]!.answer!.text).toBe('<p>expected ***, got nothing</p>');
  });

  it('leaves other text as it was escaped', async () => {
    const text = '<p>caf&eacute; &amp; bar&#39;s 50%25 {"a":"\\u00e9"}</p>';
    const { relay } = await start(answer(text), {}, { sharedSecret: secret });
    expect((await resultsOf(relay))[0]!.answer!.text).toBe(text);
  });

  it('is replaced if it looks escaped itself', async () => {
    const { relay } = await start(answer('no 50%41-of-it!'), {}, { sharedSecret: '50%41-of-it' });
    expect((await resultsOf(relay))[0]!.answer!.text).toBe('no ***!');
  });

  it('is left out if its escaped form is cut', async () => {
    const { relay } = await start(answer(`${'x'.repeat(1_010)} a&#x2f;shared`), {}, { sharedSecret: secret });
    expect((await resultsOf(relay))[0]!.answer!.text).toBe(`${'x'.repeat(1_010)} `);
  });
});

describe('Of the answers to a delivery', () => {
  const long = (index: number) => answer(`${index}${'x'.repeat(2_000)}`);
  const short = { initialRetryDelay: 1, maxRetryDelay: 1 };

  it('the newest 4 KB are kept, also once it is delivered', async () => {
    const { relay } = await start(sequence(...[0, 1, 2, 3, 4, 5].map(long), status(200)), short);
    const results = await resultsOf(relay, 7);
    expect(results.map(({ answer }) => answer?.text?.[0])).toEqual([
      undefined,
      undefined,
      '2',
      '3',
      '4',
      '5',
      undefined,
    ]);
    expect(results.slice(2, 6).map(({ answer }) => answer!.text!.length)).toEqual([1_024, 1_024, 1_024, 1_024]);
  });

  it('those of other URLs are not kept once one has succeeded', async () => {
    const failing = await ScriptedReceiver.start(answer('down'));
    cleanUp(() => failing.stop());
    const succeeding = await ScriptedReceiver.start((response) => {
      const respond = () => (failing.sockets.size > 0 && failing.active === 0 ? response.end() : setImmediate(respond));
      respond();
    });
    cleanUp(() => succeeding.stop());
    const { relay } = await start(status(200), {}, { urls: [failing.url, succeeding.url] });
    await relay.track('m1');
    await relay.settled('delivered');
    const [{ attempts } = { attempts: [] }] = await relay.service.deliveries({});
    expect(attempts).toMatchObject([
      { results: expect.arrayContaining([expect.objectContaining({ outcome: 'success' })]) },
    ]);
    expect(JSON.stringify(attempts)).not.toContain('down');
  });
});
