import { type DeliveryQueueFactory, memoryQueue, type OperationalEvent, sqliteQueue } from 'nestjs-analytics-relay';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Registry } from '../../../lib/webhook-destination/registry/registry.js';
import { useCleanUps } from '../../support/clean-ups.js';
import { fakeTimers } from '../../support/clock.js';
import { Relay } from '../../support/relay.js';
import { type Script, ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { describeOnEach, postgresStore, redisStore } from '../../support/services.js';
import { sharedQueue } from '../../support/shared-queue.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Longest time that the steps of a test take, in ms. */
const SLACK = 20_000;
const SECRET = 'a secret of thirty-two characters';

// Before the clean-ups, which run first: a store that closes needs the timers that it has.
afterEach(() => {
  vi.useRealTimers();
});
const cleanUp = useCleanUps();

const gone = status(410);
const failing = status(503);
const taking = status(200);
const asking = (code: number, asked: string): Script => status(code, { 'Webhook-Delivery': asked });

async function receiverOf(script: Script): Promise<ScriptedReceiver> {
  const receiver = await ScriptedReceiver.start(script);
  cleanUp(() => receiver.stop());
  return receiver;
}

/** A receiver whose script can be replaced. */
async function changingReceiver(first: Script) {
  let script = first;
  const receiver = await receiverOf((...request) => script(...request));
  return { receiver, answer: (next: Script) => (script = next) };
}

/** A relay with its operational events. */
interface PortalRelay {
  relay: Relay;
  told: OperationalEvent[];
  /** The states that it told, in their order. */
  states: () => string[];
}

async function start(options: Parameters<typeof Relay.start>[0] = {}): Promise<PortalRelay> {
  const relay = await Relay.start({
    registry: 'store',
    portal: { secret: SECRET },
    ...options,
    delivery: { initialRetryDelay: 20, maxRetryDelay: 20, ...options.delivery },
  });
  cleanUp(() => relay.stop());
  const told: OperationalEvent[] = [];
  relay.service.operational$.subscribe((event) => told.push(event));
  const states = () => told.map(({ type }) => type).filter((type) => type.startsWith('endpoint.'));
  return { relay, told, states };
}

/** Adds an endpoint of the tenant acme. */
async function addEndpoint({ service }: Relay, url: string, options: object = {}): Promise<void> {
  await service.destinations.create({ name: 'hook', urls: [url], metadata: { tenant: 'acme' }, ...options });
}

const entryOf = async ({ service }: Relay) => (await service.destinations.get('hook'))!;
const isDisabled = async (relay: Relay) => (await entryOf(relay)).disabled !== undefined;

async function deadOf(relay: Relay) {
  const dead = await relay.service.deliveries({ destination: 'hook', state: 'dead' });
  return dead.map(({ messageId, reason }) => [messageId, reason]).sort();
}

type Create = () => Promise<DeliveryQueueFactory> | DeliveryQueueFactory;

const inSqlite: Create = async () => sqliteQueue({ path: (await temporaryFolder(cleanUp)).path('relay.db') });

function itIsDisabled(create: Create): void {
  it('is disabled by 410 at once, and keeps what it does not get until it is enabled', async () => {
    const { receiver, answer } = await changingReceiver(gone);
    const { relay, told } = await start({ queue: await create() });
    const before = Date.now();
    await addEndpoint(relay, receiver.url, { concurrency: 1 });
    await relay.track('m1');
    await waitFor(() => isDisabled(relay));
    await relay.track('m2', 'm3');
    await relay.settled('dead', 3);

    const { disabled, failingSince } = await entryOf(relay);
    expect([disabled!.reason, failingSince]).toEqual(['gone', undefined]);
    expect(disabled!.since).toBeGreaterThanOrEqual(before - 1_000);
    expect(await deadOf(relay)).toEqual([
      ['m1', 'every URL failed permanently'],
      ['m2', 'endpoint disabled'],
      ['m3', 'endpoint disabled'],
    ]);
    const explain = async () =>
      (await relay.service.explain({ type: 'track', userId: 'u1', event: 'Ordered' })).destinations;
    expect(await explain()).toMatchObject([{ destination: 'hook', selected: true, hold: 'endpoint_disabled' }]);
    expect(receiver.webhooks).toHaveLength(1);
    const facts = { tenant: 'acme', destination: 'hook', at: expect.any(Number) };
    expect(told).toEqual([
      {
        type: 'delivery.exhausted',
        ...facts,
        source: 'shop',
        messageId: 'm1',
        attempts: 1,
        reason: 'every URL failed permanently',
      },
      { type: 'endpoint.disabled', ...facts, reason: 'gone', failingSince: undefined },
    ]);

    answer(taking);
    expect(await relay.service.destinations.enable('hook')).toMatchObject({ disabled: undefined });
    await relay.track('m4');
    await relay.settled('delivered');
    expect(await relay.service.replay({ destination: 'hook', reason: 'endpoint_disabled' })).toBe(2);
    await relay.settled('delivered', 3);
    expect(await deadOf(relay)).toEqual([['m1', 'every URL failed permanently']]);
    expect(await relay.service.replay({ destination: 'hook', state: 'dead' })).toBe(1);
    await relay.settled('delivered', 4);
  });
}

function itStaysDisabled(create: Create): void {
  it('fails, is disabled after a time without a success, and stays so over a restart', async () => {
    const { receiver, answer } = await changingReceiver(failing);
    const queue = await create();
    const portal = { secret: SECRET, disableAfter: 300 };
    const { relay, told, states } = await start({ queue, portal });
    await addEndpoint(relay, receiver.url);
    await relay.track('m1');
    await waitFor(() => isDisabled(relay));
    await relay.settled('dead');
    const { disabled, failingSince } = await entryOf(relay);
    expect(disabled!.reason).toBe('failing');
    expect(disabled!.since - failingSince!).toBeGreaterThanOrEqual(300);
    expect(states()).toEqual(['endpoint.failing', 'endpoint.disabled']);
    expect(told[1]).toMatchObject({ reason: 'failing', failingSince });
    expect(await deadOf(relay)).toEqual([['m1', 'endpoint disabled']]);
    await relay.stop();

    answer(taking);
    const again = await start({ queue, portal });
    await again.relay.track('m2');
    await again.relay.settled('dead');
    expect(await entryOf(again.relay)).toMatchObject({ disabled, failingSince });
    await again.relay.service.destinations.enable('hook');
    expect(await entryOf(again.relay)).toMatchObject({ disabled: undefined, failingSince: undefined });
    expect(await again.relay.service.replay({ reason: 'endpoint_disabled' })).toBe(2);
    await again.relay.settled('delivered', 2);
    expect(again.states()).toEqual([]);
  });
}

describe('An endpoint that fails', () => {
  it('begins anew with another URL', async () => {
    const receiver = await receiverOf(failing);
    const { relay, states } = await start({ portal: { secret: SECRET, disableAfter: 60_000 } });
    await addEndpoint(relay, receiver.url, { sharedSecret: 'a secret of the tests, long' });
    const registry = (relay.service as unknown as { steps: { registry: Registry } }).steps.registry;
    await registry.change('destination', 'hook', (entry) => ({ ...entry!.document!, failingSince: 1_000 }));
    expect(await entryOf(relay)).toMatchObject({ failingSince: 1_000 });
    await relay.service.destinations.update('hook', { urls: [`${receiver.url}/mended`] });
    expect((await entryOf(relay)).failingSince).toBeUndefined();
    await relay.track('m1');
    await waitFor(() => receiver.webhooks.length > 0);
    expect(await isDisabled(relay)).toBe(false);
    expect(states()).not.toContain('endpoint.disabled');
  });
});

describe('An endpoint, with the queue in memory,', () => {
  itIsDisabled(memoryQueue);
});

describe('An endpoint, with the queue in SQLite,', () => {
  itIsDisabled(inSqlite);
  itStaysDisabled(inSqlite);
});

await describeOnEach([redisStore, postgresStore], ({ name, create }) => {
  describe(`An endpoint, with the queue in ${name},`, () => {
    const place = () => {
      const { options, remove } = create();
      cleanUp(remove);
      return sharedQueue(options);
    };
    itIsDisabled(place);
    itStaysDisabled(place);

    it('has one life in all processes, each change of which is told once', async () => {
      const { receiver, answer } = await changingReceiver(status(404));
      const queue = place();
      const portal = { secret: SECRET, disableAfter: 500 };
      const [one, other] = [await start({ queue, portal }), await start({ queue, portal })];
      const told = () => [...one.states(), ...other.states()].sort();
      await addEndpoint(one.relay, receiver.url);
      const areFailing = async (expected: boolean) => {
        const entries = await Promise.all([one, other].map(({ relay }) => relay.service.destinations.get('hook')));
        return entries.every((entry) => entry && (entry.failingSince !== undefined) === expected);
      };
      await one.relay.track('m1');
      await waitFor(() => areFailing(true));
      answer(taking);
      await other.relay.track('m2', 'm3', 'm4');
      await waitFor(() => areFailing(false));
      await waitFor(() => told().length === 2);
      expect(told()).toEqual(['endpoint.failing', 'endpoint.recovered']);

      answer(gone);
      await one.relay.track('m5', 'm6', 'm7', 'm8');
      await waitFor(async () => (await isDisabled(one.relay)) && (await isDisabled(other.relay)));
      await other.relay.track('m9');
      await waitFor(async () => (await deadOf(one.relay)).length === 6);
      expect(await deadOf(other.relay)).toContainEqual(['m9', 'endpoint disabled']);
      expect(told()).toEqual(['endpoint.disabled', 'endpoint.failing', 'endpoint.recovered']);
      await other.relay.service.destinations.enable('hook');
      await waitFor(async () => !(await isDisabled(one.relay)));
    });
  });
});

describe('An endpoint', () => {
  it('that answers 404 for five days is disabled, of which a part may be the time of a restart', async () => {
    fakeTimers({ now: Date.now(), shouldAdvanceTime: true });
    const receiver = await receiverOf(status(404));
    const path = (await temporaryFolder(cleanUp)).path('relay.db');
    const { relay, states } = await start({ queue: sqliteQueue({ path }) });
    await addEndpoint(relay, receiver.url);
    const before = Date.now();
    await relay.track('m1');
    await relay.settled('dead');
    vi.advanceTimersByTime(MINUTE - SLACK);
    expect(states()).toEqual([]);
    vi.advanceTimersByTime(SLACK);
    await waitFor(() => states().length > 0);
    const { failingSince, disabled } = await entryOf(relay);
    expect([failingSince! >= before && failingSince! < before + SLACK, disabled]).toEqual([true, undefined]);
    vi.advanceTimersByTime(4 * DAY);
    await relay.track('m2');
    await relay.settled('dead', 2);
    expect(states()).toEqual(['endpoint.failing']);
    await relay.stop();

    vi.advanceTimersByTime(DAY);
    const again = await start({ queue: sqliteQueue({ path }) });
    await again.relay.track('m3');
    await waitFor(() => isDisabled(again.relay));
    expect(await entryOf(again.relay)).toMatchObject({ failingSince, disabled: { reason: 'failing' } });
    expect(again.states()).toEqual(['endpoint.disabled']);
  });

  it('that recovers within a minute is not written; after a minute it is told that it fails, and recovers', async () => {
    fakeTimers({ now: Date.now(), shouldAdvanceTime: true });
    const { receiver, answer } = await changingReceiver(sequence(status(404), taking, status(404)));
    const { relay, told, states } = await start();
    await addEndpoint(relay, receiver.url);
    const { updatedAt } = await entryOf(relay);
    await relay.track('m1');
    await relay.settled('dead');
    vi.advanceTimersByTime(MINUTE - SLACK);
    await relay.track('m2');
    await relay.settled('delivered');
    vi.advanceTimersByTime(MINUTE);
    const before = Date.now();
    await relay.track('m3');
    await relay.settled('dead', 2);
    vi.advanceTimersByTime(MINUTE - SLACK);
    expect([(await entryOf(relay)).failingSince, states()]).toEqual([undefined, []]);
    vi.advanceTimersByTime(SLACK);
    await waitFor(() => states().length === 1);
    const { failingSince, ...entry } = await entryOf(relay);
    expect(failingSince).toBeGreaterThanOrEqual(before);
    expect(entry.updatedAt).toBe(updatedAt);

    answer(taking);
    await relay.track('m4');
    await waitFor(() => states().length === 2);
    expect((await entryOf(relay)).failingSince).toBeUndefined();
    expect(told.at(-1)).toEqual({
      type: 'endpoint.recovered',
      tenant: 'acme',
      destination: 'hook',
      at: expect.any(Number),
      failingSince,
    });
  });

  it('is not disabled by the time in which it was paused, however long', async () => {
    fakeTimers({ now: Date.now(), shouldAdvanceTime: true });
    const receiver = await receiverOf(status(404));
    const { relay, states } = await start();
    await addEndpoint(relay, receiver.url);
    await relay.track('m1');
    await relay.settled('dead');
    vi.advanceTimersByTime(MINUTE);
    await waitFor(() => states().length === 1);
    const { destinations } = relay.service;
    vi.advanceTimersByTime(DAY);
    await destinations.pause('hook');
    vi.advanceTimersByTime(6 * DAY);
    await destinations.resume('hook');
    vi.advanceTimersByTime(DAY);
    await destinations.update('hook', { events: ['Ordered'] }); // the pauses before a retry window are forgotten
    await relay.track('m2');
    await relay.settled('dead', 2);
    expect(states()).toEqual(['endpoint.failing']);
    vi.advanceTimersByTime(3 * DAY);
    await relay.track('m3');
    await waitFor(() => states().length === 2);
    expect(await isDisabled(relay)).toBe(true);
  });

  it.each([
    ['200', asking(200, 'disable'), 'delivered'],
    ['503', asking(503, ' Disable '), 'dead'],
  ] as const)('is disabled if its receiver asks for it with %s', async (_status, script, end) => {
    const receiver = await receiverOf(script);
    const { relay, told } = await start();
    await addEndpoint(relay, receiver.url);
    await relay.track('m1');
    await waitFor(() => isDisabled(relay));
    await relay.settled(end);
    expect(await entryOf(relay)).toMatchObject({ disabled: { reason: 'asked' } });
    expect(told).toMatchObject([{ type: 'endpoint.disabled', reason: 'asked' }]);
    const [delivery] = await relay.service.deliveries({ destination: 'hook' });
    expect(delivery!.attempts[0]!.results).toMatchObject([{ asked: 'disable' }]);
    expect(delivery!.reason).toBe(end === 'dead' ? 'endpoint disabled' : undefined);
  });

  it('with two URLs is disabled if both are gone', async () => {
    const [first, second] = [await changingReceiver(failing), await receiverOf(gone)];
    const { relay } = await start();
    await addEndpoint(relay, first.receiver.url, { urls: [first.receiver.url, second.url] });
    await relay.track('m1');
    await relay.settled('retry');
    expect(await isDisabled(relay)).toBe(false);
    first.answer(gone);
    await relay.settled('dead');
    expect(await isDisabled(relay)).toBe(false); // the second URL was left out, and may take others
    await relay.track('m2');
    await waitFor(() => isDisabled(relay));
  });

  it('is not disabled by a late answer from an earlier URL', async () => {
    const answers: (() => void)[] = [];
    const earlier = await receiverOf((...request) => answers.push(() => gone(...request)));
    const later = await receiverOf(taking);
    const { relay, states } = await start();
    await addEndpoint(relay, earlier.url);
    await relay.track('m1');
    await waitFor(() => answers.length === 1);
    await relay.service.destinations.update('hook', { urls: [later.url], sharedSecret: null });
    answers[0]!();
    await relay.settled('dead');
    await relay.track('m2');
    await relay.settled('delivered');
    expect([await isDisabled(relay), states()]).toEqual([false, []]);
  });

  it('with two URLs stays enabled if one is gone, and the other refuses a message for another reason', async () => {
    const [first, second] = [await changingReceiver(sequence(failing, gone)), await receiverOf(status(404))];
    const { relay, states } = await start();
    await addEndpoint(relay, first.receiver.url, { urls: [first.receiver.url, second.url] });
    await relay.track('m1');
    await relay.settled('dead');
    await relay.track('m2'); // answered 410 and 404
    await relay.settled('dead', 2);
    expect([await isDisabled(relay), states()]).toEqual([false, []]);
  });

  it('gets no deliveries while it is disabled, not even those that are replayed, and ends when it is removed', async () => {
    const receiver = await receiverOf(gone);
    const { relay } = await start();
    await addEndpoint(relay, receiver.url);
    await relay.track('m1');
    await waitFor(() => isDisabled(relay));
    expect(await relay.service.replay({ destination: 'hook' })).toBe(1);
    await relay.settled('dead', 2);
    expect(receiver.webhooks).toHaveLength(1);
    expect(await deadOf(relay)).toEqual([['m1', 'endpoint disabled']]);
    await relay.service.destinations.remove('hook');
    expect(await relay.service.replay({ destination: 'hook' })).toBe(1);
    await relay.settled('dead', 3);
    expect(await deadOf(relay)).toEqual([['m1', 'destination removed']]);
  });

  it('cannot be enabled where it is declared in code, and stays as it is if it works', async () => {
    const receiver = await receiverOf(taking);
    const { relay } = await start({ destinations: [{ name: 'fixed', urls: [receiver.url] }] });
    await addEndpoint(relay, receiver.url);
    const before = await entryOf(relay);
    expect(await relay.service.destinations.enable('hook')).toEqual(before);
    await expect(relay.service.destinations.enable('fixed')).rejects.toMatchObject({ code: 'registry_read_only' });
    await expect(relay.service.destinations.enable('none')).rejects.toMatchObject({ code: 'destination_unknown' });
  });
});

describe('Other destinations', () => {
  const portal = { secret: SECRET, disableAfter: 1 };

  it.each([
    ['of the options', { destinations: true, portal }],
    ['of no tenant', { metadata: { customer: 'acme' }, portal }],
    ['of a relay without a portal', { metadata: { tenant: 'acme' }, portal: undefined }],
  ])('%s are never disabled', async (_name, { destinations, metadata, portal }: Record<string, unknown>) => {
    const receiver = await receiverOf(sequence(gone, asking(410, 'disable'), status(404)));
    const destination = { name: 'hook', urls: [receiver.url], metadata: (metadata ?? { tenant: 'acme' }) as never };
    const { relay, told } = await start({
      destinations: destinations ? [destination] : [],
      portal: portal as { secret: string },
    });
    if (!destinations) await addEndpoint(relay, receiver.url, { metadata });
    for (const [index, id] of ['m1', 'm2', 'm3', 'm4'].entries()) {
      await relay.track(id);
      await relay.settled('dead', index + 1);
    }
    expect(await entryOf(relay)).toMatchObject({ disabled: undefined, failingSince: undefined });
    expect(receiver.webhooks).toHaveLength(4);
    expect(told).toEqual([]);
  });
});

describe('A receiver that answers `webhook-delivery: abort-message`', () => {
  it('does not get the message again, whatever its status', async () => {
    const receiver = await receiverOf(sequence(asking(503, 'abort-message'), asking(201, 'abort-message')));
    const { relay } = await start({ portal: undefined, destinations: [{ name: 'hook', urls: [receiver.url] }] });
    await relay.track('m1');
    const [dead] = await relay.settled('dead');
    expect(dead).toMatchObject({
      reason: 'aborted by the receiver',
      attempt: 1,
      results: [{ status: 503, outcome: 'permanent', asked: 'abort-message' }],
    });
    await relay.track('m2');
    await relay.settled('delivered');
    expect(await relay.service.deliveries({ reason: 'aborted' })).toHaveLength(1);
    expect(await relay.service.replay({ reason: 'aborted' })).toBe(1);
    await relay.settled('delivered', 2);
  });

  it('does not fail by that', async () => {
    const receiver = await receiverOf(asking(400, 'abort-message'));
    const { relay, states } = await start({ portal: { secret: SECRET, disableAfter: 1 } });
    await addEndpoint(relay, receiver.url);
    for (const id of ['m1', 'm2', 'm3']) {
      await relay.track(id);
      await waitFor(async () => (await deadOf(relay)).some(([messageId]) => messageId === id));
    }
    expect(states()).toEqual([]);
  });

  it('leaves the message to the other URLs of its destination', async () => {
    const aborting = await receiverOf(asking(400, 'abort-message'));
    const other = await receiverOf(sequence(failing, taking));
    const { relay } = await start({ destinations: [{ name: 'hook', urls: [aborting.url, other.url] }] });
    await relay.track('m1');
    await relay.settled('delivered');
    expect([aborting.webhooks.length, other.webhooks.length]).toEqual([1, 2]);
  });
});

describe('The operator', () => {
  const ops = (url: string) => [{ name: 'ops', urls: [url], sources: ['nobody'], types: ['page' as const] }];
  const sources = ['shop', 'nobody'].map((name) => ({ name, writeKey: `wk_${name}` }));
  const portal = { secret: SECRET, operator: 'ops' };

  it('gets operational webhooks, which wait in the queue while its receiver is down', async () => {
    const { receiver: operator, answer } = await changingReceiver(failing);
    const receiver = await receiverOf(gone);
    const path = (await temporaryFolder(cleanUp)).path('relay.db');
    const options = { sources, destinations: ops(operator.url), portal };
    const first = await start({ ...options, queue: sqliteQueue({ path }) });
    await addEndpoint(first.relay, receiver.url, { sources: ['shop'] });
    await first.relay.track('m1');
    await waitFor(() => first.told.length === 2);
    await first.relay.stop();

    answer(taking);
    const before = operator.webhooks.length;
    const { relay } = await start({ ...options, queue: sqliteQueue({ path }) });
    await relay.settled('delivered', 2);
    const bodies = operator.webhooks.slice(before).map(({ body }) => body);
    bodies.sort((one, other) => String(one.event).localeCompare(String(other.event)));
    const [exhausted, disabled] = first.told;
    const iso = ({ at }: OperationalEvent) => new Date(at).toISOString();
    expect(bodies).toEqual([
      {
        version: 1,
        type: 'track',
        anonymousId: 'acme',
        event: 'delivery.exhausted',
        properties: {
          tenant: 'acme',
          destination: 'hook',
          source: 'shop',
          messageId: 'm1',
          attempts: 1,
          reason: 'every URL failed permanently',
        },
        timestamp: iso(exhausted!),
      },
      {
        version: 1,
        type: 'track',
        anonymousId: 'acme',
        event: 'endpoint.disabled',
        properties: { tenant: 'acme', destination: 'hook', reason: 'gone' },
        timestamp: iso(disabled!),
      },
    ]);
    expect(receiver.webhooks).toHaveLength(1); // it got none of them
  });

  it('gets one webhook a minute about the dead deliveries of an endpoint, however many there are', async () => {
    const operator = await receiverOf(taking);
    const receiver = await receiverOf(status(400));
    const { relay, told } = await start({ sources, destinations: ops(operator.url), portal });
    await addEndpoint(relay, receiver.url, { sources: ['shop'] });
    for (let number = 0; number < 20; number++) await relay.track(`m${number}`);
    await relay.settled('dead', 20);
    await relay.settled('delivered', 1);
    expect(told.filter(({ type }) => type === 'delivery.exhausted')).toHaveLength(20);
    expect(operator.webhooks).toHaveLength(1);
  });

  it('gets those that the queue could not store at first, each once', async () => {
    const operator = await receiverOf(taking);
    const receiver = await receiverOf(gone);
    const queue = memoryQueue()();
    const add = queue.add.bind(queue);
    let refusals = 0;
    vi.spyOn(queue, 'add').mockImplementation((deliveries, beyondLimit) =>
      deliveries[0]!.destination === 'ops' && ++refusals === 1
        ? Promise.reject(new Error('no disk'))
        : add(deliveries, beyondLimit),
    );
    const { relay } = await start({ queue: () => queue, sources, destinations: ops(operator.url), portal });
    await addEndpoint(relay, receiver.url, { sources: ['shop'] });
    await relay.track('m1');
    await relay.settled('delivered', 2);
    expect(operator.webhooks.map(({ body }) => body.event).sort()).toEqual(['delivery.exhausted', 'endpoint.disabled']);
    expect(relay.log.matching(/^error Operational webhooks cannot be stored, trying again: no disk/)).toHaveLength(1);
  });
});
