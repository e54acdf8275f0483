import { request } from 'node:http';

import { ExpressAdapter } from '@nestjs/platform-express';
import { publicKeyOf, signBody } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { runCommand, RunningCommand } from '../support/command.js';
import { Receiver } from '../support/receiver.js';
import { startRelayApp } from '../support/relay.app.js';

const SECRET = 'a-secret-for-the-desk-0123456789';
const PREVIOUS = 'the-secret-before-it-0123456789';
const afterwards = useCleanUps();

async function start(args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = new RunningCommand(afterwards, ['listen', '--port', '0', ...args], { WEBHOOK_SECRET: '', ...env });
  const [, url] = await command.printed(/Listening at (http:\S+\d)/);
  return { command, url: url! };
}

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  return fetch(url, { method: 'POST', body, headers });
}

/** Posts a message signed with the secret. */
const send = (url: string, message: object) => {
  const body = JSON.stringify(message);
  return post(url, body, { 'x-signature': signBody(body, SECRET) });
};

describe('The command listen', () => {
  it('verifies and prints what a relay sends, with both signatures, and never the secret', async () => {
    const { command, url } = await start(['--secret', SECRET]);
    const { relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
      destination: { urls: [`${url}/hook`], sharedSecret: SECRET },
    });
    await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered', properties: { revenue: 42 } }]);
    await command.printed(/^[\d:]{8} {2}track {2}Ordered {2}u1 {2}valid webhook-signature, X-Signature {2}-> 204 No/m);
    await command.printed(/"revenue": 42/);
    expect(command.stdout + command.stderr).not.toMatch(SECRET);
    expect(command.stdout).not.toMatch('\x1b');
    expect(await command.stop()).toBe(0);
  });

  it('accepts the previous secret of a rotation, from the environment', async () => {
    const { command, url } = await start([], { WEBHOOK_SECRET: PREVIOUS });
    const { relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
      destination: { urls: [`${url}/hook`], sharedSecret: [SECRET, PREVIOUS] },
    });
    await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered' }]);
    await command.printed(/valid webhook-signature, X-Signature-Previous {2}-> 204/);
  });

  const privateKey = `whsk_${Buffer.alloc(32, 'desk').toString('base64')}`;
  it.each([
    ['a public key', publicKeyOf(privateKey)!],
    ['a private key, as the environment of the sender has it', privateKey],
  ])('verifies what a relay signs with a private key, with %s', async (_what, secret) => {
    const { command, url } = await start([], { WEBHOOK_SECRET: secret });
    const { relay } = await startRelayApp(afterwards, new ExpressAdapter(), {
      destination: { urls: [`${url}/hook`], sharedSecret: privateKey },
    });
    await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered' }]);
    await command.printed(/u1 {2}valid webhook-signature {2}-> 204/);
    expect((await send(url, { type: 'track', event: 'A' })).status).toBe(401);
    await command.printed(/wrong X-Signature: the destination has another sharedSecret {2}-> 401/);
    expect(command.stdout + command.stderr).not.toMatch(/whsk_|whpk_|Warning/);
  });

  it('answers 401 to what WebhookSignatureGuard refuses, and says why', async () => {
    const { command, url } = await start(['--secret', SECRET]);
    expect((await post(url, '{"type":"track","event":"A"}')).status).toBe(401);
    await command.printed(/no user {2}no signature: the destination has no sharedSecret {2}-> 401/);
    expect((await post(url, '{"type":"track","event":"B"}', { 'x-signature': 'ab' })).status).toBe(401);
    await command.printed(/wrong X-Signature: the destination has another sharedSecret {2}-> 401/);
  });

  it('prints the difference to the last message of the same event, and escapes what could deceive', async () => {
    const { command, url } = await start([]);
    expect(command.stdout).toMatch('signatures are not verified, because there is no --secret');
    const order = { type: 'track', userId: 'u1', event: 'Ordered', properties: { revenue: 1, items: ['a', 'b'] } };
    await send(url, order);
    await send(url, { ...order, event: 'Other' });
    await send(url, { ...order, userId: 'u2', properties: { revenue: 2, items: ['a'], note: '\x1b[31m\u202e' } });
    await command.printed(/track {2}Ordered {2}u2 {2}not verified {2}-> 204/);
    const printed = command.stdout.slice(command.stdout.lastIndexOf('u2  not verified'));
    expect(printed.split('\n').slice(1, -1)).toEqual([
      '  ~ userId: "u1" -> "u2"',
      '  ~ properties.revenue: 1 -> 2',
      '  - properties.items.1: "b"',
      '  + properties.note: "\\u001b[31m\\u202e"',
    ]);
    await send(url, { ...order, event: '\u202e\x1b' });
    await post(url, 'not JSON \x1b');
    await command.printed(/a body that is not a JSON object.*\n {2}not JSON \\u001b/);
    // eslint-disable-next-line no-control-regex
    expect(command.stdout).not.toMatch(/[\x1b\u202e]/);
    await send(url, { ...order, event: 'Other' });
    await command.printed(/the same as the last one/);
  });

  it('prints bodies that are nested deeper than the stack without ending', async () => {
    const { command, url } = await start([]);
    expect((await post(url, `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)).status).toBe(204);
    await command.printed(/a body that is not a JSON object/);
    expect((await post(url, 'x'.repeat(1_048_577))).status).toBe(413);
  });

  it('answers every webhook with a status, which can be changed while it runs', async () => {
    const { url } = await start(['--secret', SECRET, '--status', '503']);
    const message = { type: 'track', userId: 'u1', event: 'Ordered' };
    expect((await send(url, message)).status).toBe(503);
    expect((await fetch(`${url}/429`, { method: 'PUT' })).status).toBe(200);
    expect((await send(url, message)).status).toBe(429);
    expect((await fetch(`${url}/700`, { method: 'PUT' })).status).toBe(405);
    expect((await fetch(url)).headers.get('allow')).toBe('POST, PUT');
    expect((await post(url, '{}')).status).toBe(429);
  });

  it('forwards the bytes and headers, and answers with the answer', async () => {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = [418];
    const { command, url } = await start(['--secret', SECRET, '--forward', receiver.url]);
    const body = '{ "type" : "track", "event": "Ordered" }';
    expect((await post(`${url}/any`, body, { 'x-signature': 'ab', 'webhook-id': 'shop:1' })).status).toBe(418);
    await command.printed(/wrong X-Signature.* -> 418/);
    const [webhook] = receiver.webhooks;
    expect(webhook).toMatchObject({ method: 'POST', path: '/hook' });
    expect(webhook!.raw.toString()).toBe(body);
    expect(webhook!.headers).toMatchObject({ 'x-signature': 'ab', 'webhook-id': 'shop:1' });
    expect(webhook!.headers.host).toBe(new URL(receiver.url).host);
    expect((await fetch(`${url}/503`, { method: 'PUT' })).status).toBe(409);
    await receiver.stop();
    expect((await post(url, body)).status).toBe(502);
    await command.printed(/-> 502 no answer from --forward: connect ECONNREFUSED/);
  });

  it('goes on when a sender closes the connection', async () => {
    const { url } = await start([]);
    const request_ = request(url, { method: 'POST', headers: { 'content-length': 10 } });
    request_.on('error', () => undefined);
    request_.write('{');
    await new Promise<void>((resolve) => request_.once('socket', (socket) => socket.once('connect', resolve)));
    request_.destroy();
    expect((await send(url, { type: 'track' })).status).toBe(204);
  });

  it('says in one line that the port is in use', async () => {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    const stderr = `listen: port ${receiver.port} is in use; choose another with --port\n`;
    expect(await runCommand('listen', '--port', String(receiver.port))).toEqual({ code: 1, stdout: '', stderr });
  });
});
