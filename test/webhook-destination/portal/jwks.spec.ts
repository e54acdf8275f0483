import { createPublicKey, verify } from 'node:crypto';

import { memoryQueue, publicKeyOf, type WebhookDestinationService } from 'nestjs-analytics-relay';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { type PublicJwk, PublicKeySet, toJwk } from '../../../lib/webhook-destination/portal/jwks.js';
import type { DestinationManager } from '../../../lib/webhook-destination/registry/destination.manager.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { Receiver } from '../../support/receiver.js';
import { Relay } from '../../support/relay.js';

const privateKey = (seed: string) => `whsk_${Buffer.alloc(32, seed).toString('base64')}`;
const publicKey = (seed: string) => publicKeyOf(privateKey(seed))!;
const kidOf = (key: string) => toJwk(key).kid;
const urls = ['https://receiver.example/hook'];

const cleanUp = useCleanUps();

/** The types of the package lack what is internal. */
const keysOf = ({ destinations }: WebhookDestinationService) =>
  new PublicKeySet(destinations as unknown as DestinationManager);

describe('toJwk', () => {
  it('gives a key its thumbprint, as RFC 8037 computes it', () => {
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(toJwk(`whpk_${Buffer.from(x, 'base64url').toString('base64')}`)).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x,
      kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
      use: 'sig',
      alg: 'EdDSA',
    });
  });
});

describe('The set of public keys', () => {
  async function start() {
    const relay = await Relay.start({
      registry: 'store',
      queue: memoryQueue(),
      destinations: [
        { name: 'fixed', urls, sharedSecret: [privateKey('fixed'), privateKey('before')] },
        { name: 'plain', urls, sharedSecret: 'a shared secret' },
        { name: 'unsigned', urls },
      ],
    });
    cleanUp(() => relay.stop());
    const { destinations } = relay.service;
    return { relay, destinations, keys: keysOf(relay.service) };
  }

  const keysIn = (answer: { body: string } | undefined) => (JSON.parse(answer!.body) as { keys: PublicJwk[] }).keys;
  const kidsIn = (answer: { body: string } | undefined) => keysIn(answer).map(({ kid }) => kid);
  const sorted = (...seeds: string[]) => seeds.map((seed) => kidOf(publicKey(seed))).sort();

  it('has those of fixed and stored destinations, present and previous ones, and nothing else', async () => {
    const { destinations, keys } = await start();
    await destinations.create({ name: 'acme', urls, sharedSecret: privateKey('acme'), metadata: { tenant: 'acme' } });
    await destinations.create({ name: 'shared', urls, sharedSecret: privateKey('fixed'), enabled: false });
    await destinations.create({ name: 'symmetric', urls });
    await destinations.rotateSecret('acme', { secret: privateKey('next') });
    const answer = await keys.answer();
    expect(kidsIn(answer)).toEqual(sorted('fixed', 'before', 'acme', 'next'));
    for (const key of keysIn(answer)) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
    }
  });

  it('is empty without private keys', async () => {
    const relay = await Relay.start({ registry: 'store' });
    cleanUp(() => relay.stop());
    expect((await keysOf(relay.service).answer())!.body).toBe('{"keys":[]}');
  });

  it('verifies what a destination sends', async () => {
    const receiver = await Receiver.start();
    cleanUp(() => receiver.stop());
    const { relay, destinations, keys } = await start();
    await destinations.create({ name: 'acme', urls: [receiver.url], sharedSecret: privateKey('acme') });
    await relay.track('m1');
    const [{ raw, headers }] = (await receiver.received(1)) as [(typeof receiver.webhooks)[0]];
    const [jwk] = keysIn(await keys.answer(kidOf(publicKey('acme'))));
    const content = Buffer.concat([
      Buffer.from(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`),
      raw,
    ]);
    const signature = Buffer.from((headers['webhook-signature'] as string).slice('v1a,'.length), 'base64');
    expect(verify(null, content, createPublicKey({ key: { ...jwk }, format: 'jwk' }), signature)).toBe(true);
  });

  it('of a kid has the key, and in a rotation the one that replaces it', async () => {
    const { destinations, keys } = await start();
    await destinations.create({ name: 'acme', urls, sharedSecret: privateKey('acme') });
    await destinations.rotateSecret('acme', { secret: privateKey('next') });
    expect(kidsIn(await keys.answer(kidOf(publicKey('acme'))))).toEqual(sorted('acme', 'next'));
    expect(kidsIn(await keys.answer(kidOf(publicKey('next'))))).toEqual(sorted('acme', 'next'));
    expect(kidsIn(await keys.answer('acme'))).toEqual([]);
    expect(kidsIn(await keys.answer('__proto__'))).toEqual([]);
  });
});

describe('The set of public keys over time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** Destinations with these keys, each destination with its own list. */
  class Destinations {
    reads = 0;

    constructor(readonly all: string[][]) {}

    // eslint-disable-next-line @typescript-eslint/require-await -- that of the manager pauses
    async *publicKeys() {
      this.reads++;
      yield* this.all;
    }
  }

  it('is read once for all requests of five seconds', async () => {
    const destinations = new Destinations([[publicKey('one')]]);
    const keys = new PublicKeySet(destinations);
    const answers = await Promise.all(Array.from({ length: 100 }, () => keys.answer()));
    expect(new Set(answers.map((answer) => answer!.etag)).size).toBe(1);
    destinations.all.push([publicKey('two')]);
    vi.advanceTimersByTime(4_999);
    expect((await keys.answer())!.etag).toBe(answers[0]!.etag);
    expect(destinations.reads).toBe(1);
    vi.advanceTimersByTime(1);
    expect((await keys.answer())!.etag).not.toBe(answers[0]!.etag);
    expect(destinations.reads).toBe(2);
  });

  it('is read again after a failure', async () => {
    const destinations = new Destinations([[publicKey('one')]]);
    const failing = vi.spyOn(destinations, 'publicKeys').mockImplementationOnce(() => {
      throw new Error('closed');
    });
    const keys = new PublicKeySet(destinations);
    await expect(keys.answer()).rejects.toThrow('closed');
    expect((await keys.answer())!.body).toContain(kidOf(publicKey('one')));
    expect(failing).toHaveBeenCalledTimes(2);
  });

  it('has at most 1,000 keys; of more, only those of a kid', async () => {
    const keyOf = (index: number) => {
      const bytes = Buffer.alloc(32, 7);
      bytes.writeUInt32BE(index);
      return `whpk_${bytes.toString('base64')}`;
    };
    const destinations = new Destinations(Array.from({ length: 1_000 }, (_, index) => [keyOf(index)]));
    const keys = new PublicKeySet(destinations);
    const { body, maxAge } = (await keys.answer())!;
    expect(Buffer.byteLength(body)).toBeLessThan(200_000);
    expect(maxAge).toBe(300);
    destinations.all.push([keyOf(1_000)]);
    vi.advanceTimersByTime(5_000);
    expect(await keys.answer()).toBeUndefined();
    expect((await keys.answer(kidOf(keyOf(1_000))))!.body).toContain(kidOf(keyOf(1_000)));
    // An unknown key may soon be known.
    expect(await keys.answer('unknown')).toMatchObject({ body: '{"keys":[]}', maxAge: 5 });
  });

  it('is not slowed by one key that all destinations share', async () => {
    const shared = [publicKey('one')];
    const destinations = new Destinations(Array.from({ length: 30_000 }, () => shared));
    const keys = new PublicKeySet(destinations);
    vi.useRealTimers();
    const startedAt = performance.now();
    await keys.answer(kidOf(publicKey('one')));
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
