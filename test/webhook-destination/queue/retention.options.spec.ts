import { memoryQueue, OptionsError, type RetentionOptions, sqliteQueue } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { sharedQueue } from '../../support/shared-queue.js';

const factories: [string, (retention: RetentionOptions) => unknown][] = [
  ['memoryQueue', (retention) => memoryQueue({ retention })],
  ['sqliteQueue', (retention) => sqliteQueue({ retention })],
  ['bullmqQueue', (retention) => sharedQueue({ connection: 'redis://localhost', retention })],
];

describe.each(factories)('The option retention of %s', (name, create) => {
  it.each([
    [{ dead: 7 }, ['retention.dead must be an object']],
    [{ delivered: { aeg: 5 } }, ['retention.delivered.aeg is not a known option']],
    [{ deliverd: {} }, ['retention.deliverd is not a known option']],
    [null, ['retention must be an object']],
    [
      { delivered: { age: -1 }, messageIds: { count: 1.5 } },
      [
        'retention.delivered.age must be a whole number, 0 or above',
        'retention.messageIds.count must be a whole number, 0 or above',
      ],
    ],
  ])('says what is wrong with %j', (retention, faults) => {
    const { message } = new OptionsError(name, faults);
    expect(() => create(retention as RetentionOptions)).toThrow(
      expect.objectContaining({ name: 'OptionsError', message }),
    );
  });

  it('may leave anything out', () => {
    expect(() => create({ dead: { age: 1, count: undefined }, delivered: undefined })).not.toThrow();
  });
});

it('The records of delivered messages take at most a quarter of maxBytes, unless retention has their bytes', () => {
  const bytesOf = (retention?: RetentionOptions) => {
    const queue = sqliteQueue({ maxBytes: 64_000_000, ...(retention && { retention }) })();
    return (queue as unknown as { retention: { delivered: { bytes: number } } }).retention.delivered.bytes;
  };
  expect(bytesOf()).toBe(16_000_000);
  expect(bytesOf({ delivered: { bytes: 50_000_000 } })).toBe(50_000_000);
});
