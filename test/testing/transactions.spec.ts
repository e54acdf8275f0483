import { AnalyticsService } from 'nestjs-analytics-relay';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Transactional } from '@nestjs-cls/transactional';
import pg from 'pg';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { pgTransactions } from '../support/pg-transactions.js';
import { describeOnEach, POSTGRES_URL, postgresStore } from '../support/services.js';

@Injectable()
class Orders {
  constructor(private readonly analytics: AnalyticsService) {}

  @Transactional()
  async place(event: string, fails = false): Promise<void> {
    this.analytics.track({ userId: 'u1', event });
    if (fails) await Promise.reject(new Error('no stock'));
  }
}

describe('AnalyticsTestingModule', () => {
  async function start() {
    const testing = await Test.createTestingModule({ imports: [AnalyticsTestingModule] }).compile();
    const recorder = testing.get(AnalyticsRecorder);
    const analytics = testing.get(AnalyticsService);
    const track = (tx: unknown, event: string) => analytics.inTransaction(tx).track({ userId: 'u1', event });
    return { recorder, track, events: () => recorder.events.map(({ event }) => event) };
  }

  it('drops the events of a transaction that the test says was rolled back', async () => {
    const { recorder, track, events } = await start();
    const [first, second] = [{}, {}];
    await track(first, 'A');
    await track(second, 'B');
    expect(events()).toEqual(['A', 'B']);
    recorder.rolledBack(first);
    expect(events()).toEqual(['B']);
  });

  it.each([
    ['pg', (tx: object) => tx],
    ['Drizzle on pg', (client: object) => ({ session: { client } })],
  ])('sees the end of a transaction of %s', async (_name, toTransaction) => {
    const { track, events } = await start();
    const client = { query: (text: string) => `done: ${text}` };
    const tx = toTransaction(client);
    const run = (text: string) => client.query(text);
    await track(tx, 'A');
    expect(run('ROLLBACK TO SAVEPOINT s')).toMatch(/^done: /);
    expect(run('COMMIT')).toMatch(/^done: /);
    await track(tx, 'B');
    expect(run(' rollback')).toMatch(/^done: /);
    expect(events()).toEqual(['A']);
  });

  it('sees the end of a transaction of TypeORM, Sequelize and Knex', async () => {
    const { track, events } = await start();
    const typeorm = { queryRunner: { rollbackTransaction: () => 'rolled back' } };
    await track(typeorm, 'A');
    expect(typeorm.queryRunner.rollbackTransaction()).toBe('rolled back');
    const sequelize = { rollback: () => undefined, commit: () => undefined };
    await track(sequelize, 'B');
    sequelize.rollback();
    const executionPromise = Promise.reject(new Error('rolled back'));
    await track({ executionPromise }, 'C');
    await executionPromise.catch(() => undefined);
    expect(events()).toEqual([]);
  });
});

await describeOnEach([postgresStore], () => {
  describe("AnalyticsTestingModule with transactions: 'cls'", () => {
    const afterwards = useCleanUps();

    it('drops the events of a method that fails', async () => {
      const pool = new pg.Pool({ connectionString: POSTGRES_URL });
      afterwards(() => pool.end());
      const testing = await Test.createTestingModule({
        imports: [pgTransactions(pool), AnalyticsTestingModule.forRoot({ transactions: 'cls' })],
        providers: [Orders],
      }).compile();
      await testing.init();
      afterwards(() => testing.close());
      await testing.get(Orders).place('A');
      await expect(testing.get(Orders).place('B', true)).rejects.toThrow('no stock');
      expect(testing.get(AnalyticsRecorder).events).toMatchObject([{ event: 'A' }]);
    });
  });
});
