import { getConnectionToken, SequelizeModule } from '@nestjs/sequelize';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { ClsPluginTransactional, Transactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { ClsModule } from 'nestjs-cls';
import { AnalyticsService } from 'nestjs-analytics-relay';
import { expect, it } from 'vitest';

import { useCleanUps } from '../../test/support/clean-ups.js';
import { describeOnEach, POSTGRES_URL, postgresStore, queryPostgres } from '../../test/support/services.js';
import { startTransactional } from '../../test/support/transactions.js';

const ordered = (messageId) => ({ userId: 'u1', event: 'Ordered', messageId });

class Orders {
  constructor(analytics, host) {
    Object.assign(this, { analytics, host });
  }

  async place(schema, messageId, fails) {
    await this.host.tx.query(`INSERT INTO ${schema}.shop_order (id) VALUES ($1)`, [messageId]);
    this.analytics.track(ordered(messageId));
    if (fails) throw new Error('no stock');
  }
}
// As @Transactional() does, which this language has no syntax for.
const place = Object.getOwnPropertyDescriptor(Orders.prototype, 'place');
Object.defineProperty(Orders.prototype, 'place', Transactional()(Orders.prototype, 'place', place) ?? place);
const orders = {
  provide: Orders,
  inject: [AnalyticsService, TransactionHost],
  useFactory: (analytics, host) => new Orders(analytics, host),
};

await describeOnEach([postgresStore], () => {
  const afterwards = useCleanUps();

  it('@nestjs/typeorm: an event is delivered if dataSource.transaction() commits', async () => {
    const typeorm = TypeOrmModule.forRoot({ type: 'postgres', url: POSTGRES_URL });
    const { relay, analytics, receiver, rows } = await startTransactional(afterwards, {}, { imports: [typeorm] });
    const dataSource = relay.app.get(getDataSourceToken());
    await dataSource.transaction((manager) => analytics.inTransaction(manager).track(ordered('m1')));
    await receiver.received(1);
    const failed = dataSource.transaction(async (manager) => {
      await analytics.inTransaction(manager).track(ordered('m2'));
      throw new Error('no stock');
    });
    await expect(failed).rejects.toThrow('no stock');
    expect(await rows()).toEqual([{ id: 'm1' }]);
  });

  it('@nestjs/sequelize: an event is delivered if sequelize.transaction() commits', async () => {
    const module = SequelizeModule.forRoot({ dialect: 'postgres', uri: POSTGRES_URL, logging: false });
    const { relay, analytics, receiver, rows } = await startTransactional(afterwards, {}, { imports: [module] });
    const sequelize = relay.app.get(getConnectionToken());
    await sequelize.transaction((tx) => analytics.inTransaction(tx).track(ordered('m1')));
    await receiver.received(1);
    const failed = sequelize.transaction(async (tx) => {
      await analytics.inTransaction(tx).track(ordered('m2'));
      throw new Error('no stock');
    });
    await expect(failed).rejects.toThrow('no stock');
    expect(await rows()).toEqual([{ id: 'm1' }]);
  });

  it('@nestjs/typeorm with @Transactional(): an event is delivered if the method succeeds', async () => {
    const typeorm = TypeOrmModule.forRoot({ type: 'postgres', url: POSTGRES_URL });
    const adapter = new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() });
    const plugins = [new ClsPluginTransactional({ imports: [typeorm], adapter })];
    const imports = [ClsModule.forRoot({ global: true, plugins })];
    const application = await startTransactional(afterwards, { transactions: 'cls' }, { imports, providers: [orders] });
    const { relay, receiver, schema, rows } = application;
    await queryPostgres(`CREATE TABLE ${schema}.shop_order (id text PRIMARY KEY)`);
    const service = relay.app.get(Orders);
    await service.place(schema, 'm1', false);
    await receiver.received(1);
    await expect(service.place(schema, 'm2', true)).rejects.toThrow('no stock');
    expect(await rows()).toEqual([{ id: 'm1' }]);
    expect(await queryPostgres(`SELECT id FROM ${schema}.shop_order`)).toEqual([{ id: 'm1' }]);
  });
});
