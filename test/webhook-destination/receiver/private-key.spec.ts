import { Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  type DestinationOptions,
  memoryQueue,
  publicKeyOf,
  verifySignature,
  verifyStandardWebhook,
  WebhookSignatureGuard,
} from 'nestjs-analytics-relay';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { listen, platforms } from '../../support/platforms.js';
import { type ReceivedWebhook, Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';

const privateKey = (seed: string) => `whsk_${Buffer.alloc(32, seed).toString('base64')}`;

const PRIVATE = privateKey('one');
const PUBLIC = publicKeyOf(PRIVATE)!;
const SHARED = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** Verifies a request as a receiver with the library of Standard Webhooks does. */
function verifyByLibrary({ raw, headers }: ReceivedWebhook): void {
  new Webhook(SHARED).verify(raw.toString(), headers as Record<string, string>);
}

describe('A destination with a private key', () => {
  const cleanUp = useCleanUps();
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
  });

  async function send(
    sharedSecret: DestinationOptions['sharedSecret'],
    options: object = {},
  ): Promise<ReceivedWebhook> {
    const relay = await Relay.start({ destinations: [{ urls: [receiver.url], sharedSecret, ...options }] });
    cleanUp(() => relay.stop());
    await relay.track('m1');
    const [webhook] = await receiver.received(1);
    return webhook!;
  }

  it('signs id, time and body with it, and makes no X-Signature', async () => {
    const { raw, headers } = await send(PRIVATE);
    expect(headers['webhook-id']).toBe('shop:m1');
    expect(headers['webhook-signature']).toMatch(/^v1a,[\w+/]{86}==$/);
    expect(verifyStandardWebhook(raw, headers, PUBLIC)).toBe(true);
    expect(verifyStandardWebhook(raw, { ...headers, 'webhook-id': 'web:m1' }, PUBLIC)).toBe(false);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-signature'))).toEqual([]);
  });

  it.each([
    ['v1 to v1a', [PRIVATE, SHARED] as [string, string], 'x-signature-previous'],
    ['v1a to v1', [SHARED, PRIVATE] as [string, string], 'x-signature'],
  ])('signs with both secrets, each in its own way, while it is rotated from %s', async (_what, secrets, header) => {
    const webhook = await send(secrets);
    const { raw, headers } = webhook;
    verifyByLibrary(webhook);
    expect(verifyStandardWebhook(raw, headers, PUBLIC)).toBe(true);
    expect(verifySignature(raw, headers[header], SHARED)).toBe(true);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-signature'))).toEqual([header]);
    expect(headers['webhook-signature']).toMatch(secrets[0] === PRIVATE ? /^v1a,\S+ v1,\S+$/ : /^v1,\S+ v1a,\S+$/);
  });

  it('signs with both private keys while one replaces the other', async () => {
    const { raw, headers } = await send([privateKey('two'), PRIVATE]);
    for (const key of [PUBLIC, publicKeyOf(privateKey('two'))!]) {
      expect(verifyStandardWebhook(raw, headers, key)).toBe(true);
    }
  });

  it('signs with a secret too short for Standard Webhooks in X-Signature-Previous', async () => {
    const { raw, headers } = await send([PRIVATE, 'short']);
    expect(headers['webhook-signature']).toMatch(/^v1a,\S+$/);
    expect(verifySignature(raw, headers['x-signature-previous'], 'short')).toBe(true);
  });
});

describe('A destination of the registry with a private key', () => {
  const cleanUp = useCleanUps();

  it('shows its public key, and never the private one', async () => {
    const relay = await Relay.start({ registry: 'store', queue: memoryQueue() });
    cleanUp(() => relay.stop());
    const { destinations } = relay.service;
    const urls = ['https://receiver.example/hook'];
    const created = await destinations.create({ name: 'crm', urls, sharedSecret: PRIVATE });
    expect(created).toMatchObject({ signed: true, publicKey: PUBLIC });
    const rotated = await destinations.rotateSecret('crm');
    expect(rotated.publicKey).toMatch(/^whpk_/);
    expect(rotated.publicKey).not.toBe(PUBLIC);
    expect(rotated).not.toHaveProperty('sharedSecret');
    const moved = await destinations.update('crm', { urls: ['https://other.example/hook'], sharedSecret: null });
    expect(moved.publicKey).toMatch(/^whpk_/);
    expect(moved.publicKey).not.toBe(rotated.publicKey);
    expect(moved).not.toHaveProperty('sharedSecret');
    const shared = await destinations.rotateSecret('crm', { secret: SHARED });
    expect(shared.publicKey).toBeUndefined();
    expect((await destinations.rotateSecret('crm')).sharedSecret).toMatch(/^whsec_/);
    expect(JSON.stringify([created, rotated, moved, shared, await destinations.list()])).not.toContain('whsk_');
  });

  it.each([
    ['a public key', PUBLIC, /sharedSecret must be .*not whpk_, which is a public key/],
    ['half a key', PRIVATE.slice(0, 30), /after whsk_, of an Ed25519 private key/],
  ])('is not created with %s', async (_what, sharedSecret, rule) => {
    const relay = await Relay.start({ registry: 'store' });
    cleanUp(() => relay.stop());
    const created = relay.service.destinations.create({ urls: ['https://receiver.example/hook'], sharedSecret });
    await expect(created).rejects.toThrow(rule);
    await expect(created).rejects.not.toThrow(sharedSecret);
  });

  it('must have the Standard Webhooks headers', async () => {
    const relay = await Relay.start({ registry: 'store' });
    cleanUp(() => relay.stop());
    const { destinations } = relay.service;
    const urls = ['https://receiver.example/hook'];
    const rule = 'standardWebhooks must not be false with a whsk_ sharedSecret';
    await expect(destinations.create({ urls, sharedSecret: PRIVATE, standardWebhooks: false })).rejects.toThrow(rule);
    await destinations.create({ name: 'crm', urls, standardWebhooks: false });
    await expect(destinations.rotateSecret('crm', { secret: PRIVATE })).rejects.toThrow(rule);
  });
});

const guards = { current: new WebhookSignatureGuard(SHARED) };

@Controller()
class HookController {
  @Post('hook')
  @HttpCode(204)
  @UseGuards({ canActivate: (context) => guards.current.canActivate(context) })
  receive(): void {}
}

describe.each(platforms)('A receiver on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  it('verifies throughout while its destination is rotated from a shared secret to a private key, and back', async () => {
    const testing = await Test.createTestingModule({ controllers: [HookController] }).compile();
    const app = testing.createNestApplication(createAdapter(), { rawBody: true });
    const url = `${await listen(app)}/hook`;
    cleanUp(() => app.close());
    const library = await Receiver.start();
    cleanUp(() => library.stop());
    const relay = await Relay.start({ registry: 'store' });
    cleanUp(() => relay.stop());
    const { destinations } = relay.service;
    await destinations.create({ name: 'guarded', urls: [url], sharedSecret: SHARED });
    await destinations.create({ name: 'library', urls: [library.url], sharedSecret: SHARED });

    let sent = 0;
    /** Sends a message to both; each verifies it with what it has. */
    const deliver = async () => {
      sent++;
      await relay.track(`m${sent}`);
      await relay.settled('delivered', 2 * sent);
      return (await library.received(sent)).at(-1)!;
    };
    const rotate = (rotation: { secret: string; overlap?: number }) =>
      Promise.all(['guarded', 'library'].map((name) => destinations.rotateSecret(name, rotation)));

    guards.current = new WebhookSignatureGuard(SHARED);
    verifyByLibrary(await deliver());
    await rotate({ secret: PRIVATE });
    verifyByLibrary(await deliver()); // the receivers do not know yet
    guards.current = new WebhookSignatureGuard(PUBLIC);
    verifyByLibrary(await deliver());
    await Promise.all(['guarded', 'library'].map((name) => destinations.endOverlap(name)));
    const alone = await deliver();
    expect(() => verifyByLibrary(alone)).toThrow('No matching signature found');
    expect(verifyStandardWebhook(alone.raw, alone.headers, PUBLIC)).toBe(true);

    const shared = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`;
    await rotate({ secret: shared });
    expect(verifyStandardWebhook((await deliver()).raw, library.webhooks.at(-1)!.headers, PUBLIC)).toBe(true);
    guards.current = new WebhookSignatureGuard([PUBLIC, shared]);
    await deliver();
    guards.current = new WebhookSignatureGuard(shared);
    const last = await deliver();
    new Webhook(shared).verify(last.raw.toString(), last.headers as Record<string, string>);
    expect((await relay.undelivered()).length).toBe(0);
  });

  it('refuses requests without webhook-signature under a public key', async () => {
    const testing = await Test.createTestingModule({ controllers: [HookController] }).compile();
    const app = testing.createNestApplication(createAdapter(), { rawBody: true });
    const url = `${await listen(app)}/hook`;
    cleanUp(() => app.close());
    guards.current = new WebhookSignatureGuard(PUBLIC);
    const headers = { 'Content-Type': 'application/json', 'X-Signature': 'd78797bfac6b93d03ea616f545e5c8ec40559103' };
    const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(401);
  });
});
