import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';

import { type DeliveryQueue, type DeliveryState, type RetentionOptions, sqliteQueue } from 'nestjs-analytics-relay';
import { beforeEach, describe, expect, it } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { keepBackupMark } from '../../support/backup-mark.js';
import { filesWith } from '../../support/folder-contents.js';
import { Relay } from '../../support/relay.js';
import { hang, type Script, ScriptedReceiver, sequence, status } from '../../support/scripted-receiver.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { waitFor } from '../../support/wait-for.js';

const SECRET = 'what-nobody-may-read-any-more';
const OTHER = 'what-others-have-said';

/** A message of about 2 KB that has its user's text all over. */
const message = (messageId: string, userId: string) => {
  const text = `${userId === 'victim' ? SECRET : OTHER}-${messageId} `.repeat(50);
  return { type: 'track', event: 'Written', messageId, userId, properties: { text } };
};

/** Of the user who is deleted, and of another one: accepted together, and so stored together. */
const MESSAGES = [message('m1', 'other'), message('m2', 'victim'), message('m3', 'victim'), message('m4', 'other')];

/** Answers with the text of the message. */
const repeat =
  (code: number): Script =>
  (response, index, request) => {
    const user = request.headers['x-message-id'] === 'm2' || request.headers['x-message-id'] === 'm3';
    response.writeHead(code).end(`${index}: ${(user ? SECRET : OTHER).repeat(20)}`);
  };

describe('After a deletion no file of the SQLite queue holds a body that was', () => {
  const cleanUp = useCleanUps();
  let folder: string;
  let path: string;
  let queue: DeliveryQueue;

  beforeEach(async () => {
    const temporary = await temporaryFolder(cleanUp);
    folder = temporary.path('data');
    path = temporary.path('data/relay.db');
  });

  async function start(
    script: Script,
    { retention, delivery, copy = path }: { retention?: RetentionOptions; delivery?: object; copy?: string } = {},
  ): Promise<Relay> {
    const receiver = await ScriptedReceiver.start(script);
    cleanUp(() => receiver.stop());
    const createQueue = sqliteQueue({ path: copy, ...(retention && { retention }) });
    const relay = await Relay.start({
      destinations: [{ urls: [receiver.url] }],
      queue: () => (queue = createQueue()),
      delivery: { initialRetryDelay: 600_000, ...delivery },
    });
    cleanUp(() => relay.stop());
    return relay;
  }

  async function accept({ service }: Relay, messages: object[] = MESSAGES): Promise<void> {
    expect((await service.accept('wk_shop', messages)).rejected).toEqual([]);
  }

  /** Waits until all of the user's messages are in a state, after so many attempts. */
  async function reached({ service }: Relay, state: DeliveryState, attempts = 0): Promise<void> {
    const found = () => service.deliveries({ userId: 'victim' });
    await waitFor(
      async () => (await found()).every((delivery) => delivery.state === state && delivery.attempts.length >= attempts),
      () => `${state} after ${attempts} attempts`,
    );
  }

  /** Deletes the user, looks into every file, and then again once they are closed. */
  async function expectGone(relay: Relay, purged = 2): Promise<void> {
    expect(filesWith(folder, SECRET)).not.toEqual([]);
    expect(await relay.service.requestDeletion({ userId: 'victim' })).toMatchObject({ purged });
    expect(filesWith(folder, SECRET)).toEqual([]);
    await relay.stop();
    expect(filesWith(folder, SECRET)).toEqual([]);
  }

  const short = { initialRetryDelay: 20, maxRetryDelay: 20 };

  it.each<[string, Script, DeliveryState, number, object]>([
    ['delivered at once', status(200), 'delivered', 1, {}],
    [
      'delivered at the second attempt',
      sequence(...MESSAGES.map(() => status(503)), status(200)),
      'delivered',
      2,
      short,
    ],
    ['to be tried again', status(503), 'waiting', 1, {}],
    ['tried several times', status(503), 'waiting', 4, short],
    ['refused', status(410), 'dead', 1, {}],
    ['refused by a receiver that repeats it', repeat(410), 'dead', 1, {}],
    ['tried several times at a receiver that repeats it', repeat(503), 'waiting', 4, short],
    ['under way', hang, 'delivering', 0, {}],
  ])('%s', async (_what, script, state, attempts, delivery) => {
    const relay = await start(script, { delivery });
    await accept(relay);
    if (attempts < 4) await reached(relay, state, attempts);
    else await waitFor(async () => (await relay.service.deliveries({})).every((found) => found.attempts.length >= 4));
    await expectGone(relay);
  });

  it('queued, and in no memory', async () => {
    const relay = await start(hang, { delivery: { concurrency: 1 } });
    await accept(
      relay,
      Array.from({ length: 40 }, (_, index) => message(`first-${index}`, 'other')),
    );
    await accept(relay);
    await reached(relay, 'queued');
    await expectGone(relay);
  });

  it('held back, as the receiver is down', async () => {
    const relay = await start(status(503));
    await accept(
      relay,
      Array.from({ length: 30 }, (_, index) => message(`first-${index}`, 'other')),
    );
    await relay.settled('retry', 10);
    await accept(relay);
    await reached(relay, 'queued');
    await expectGone(relay);
  });

  it('released at a shutdown, and read by the next start', async () => {
    const relay = await start(hang, { delivery: { concurrency: 1 } });
    await accept(relay);
    await reached(relay, 'delivering');
    await relay.stop();
    expect(filesWith(folder, SECRET)).toEqual(['relay.db']);
    const again = await start(hang, { delivery: { concurrency: 1 } });
    await reached(again, 'delivering');
    await expectGone(again);
  });

  it('left in delivery by a crash', async () => {
    const relay = await start(hang);
    await accept(relay);
    await reached(relay, 'delivering');
    folder = `${folder}-copy`;
    mkdirSync(folder);
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${folder}/relay.db${suffix}`);
    await expectGone(await start(hang, { copy: `${folder}/relay.db` }));
  });

  it('dead, replayed, and dead again', async () => {
    const relay = await start(status(410));
    await accept(relay);
    await reached(relay, 'dead', 1);
    expect(await relay.service.replay({ userId: 'victim' })).toBe(2);
    await reached(relay, 'dead', 2);
    await expectGone(relay);
  });

  it('posted twice in one batch', async () => {
    const relay = await start(status(503));
    await accept(relay, [...MESSAGES, message('m2', 'victim'), message('m2', 'other')]);
    await reached(relay, 'waiting', 1);
    await expectGone(relay);
  });

  it.each<[string, Script, DeliveryState]>([
    ['delivered', status(200), 'delivered'],
    ['dead', status(410), 'dead'],
  ])('%s, and whose record was swept', async (_what, script, state) => {
    const relay = await start(script, { retention: { [state]: { count: 2 } } });
    await queue.sweep(); // the first one empties the log, for the registry
    await accept(relay, MESSAGES.slice(1, 3));
    await reached(relay, state, 1);
    await accept(relay, [message('m5', 'other'), message('m6', 'other')]);
    await waitFor(async () => (await relay.service.deliveries({ state })).length === 4);
    expect((await queue.sweep()).removed).toBe(2);
    await expectGone(relay, 0);
  });

  it('part of a batch that was swept but for another one', async () => {
    const relay = await start(sequence(status(200), status(200), status(410)), {
      delivery: { concurrency: 1 },
      retention: { delivered: { count: 0 } },
    });
    await accept(relay, [message('m1', 'victim'), message('m2', 'other'), message('m3', 'victim')]);
    await waitFor(async () => (await relay.service.deliveries({ state: 'dead' })).length === 1);
    expect((await queue.sweep()).removed).toBe(2);
    expect(await relay.service.deliveries({})).toMatchObject([{ messageId: 'm3', state: 'dead' }]);
    await expectGone(relay, 1);
  });

  it('stored while a backup was under way', async () => {
    const relay = await start(status(503));
    cleanUp(keepBackupMark(path));
    await accept(relay);
    await reached(relay, 'waiting', 1);
    expect(readdirSync(folder)).toContain('relay.db-backup');
    await expectGone(relay);
  });
});
