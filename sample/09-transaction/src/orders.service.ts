import { randomUUID } from 'node:crypto';

import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { AnalyticsService } from 'nestjs-analytics-relay';
import type pg from 'pg';

@Injectable()
export class OrdersService implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject('POOL') private readonly pool: pg.Pool,
    private readonly analytics: AnalyticsService,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.pool.query('CREATE TABLE IF NOT EXISTS sample_09_order (id uuid PRIMARY KEY, product text NOT NULL)');
  }

  /** Places an order; one that is out of stock is rolled back, with its event. */
  async place(product: string, isOutOfStock: boolean): Promise<string> {
    const id = randomUUID();
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('INSERT INTO sample_09_order (id, product) VALUES ($1, $2)', [id, product]);
      await this.analytics.inTransaction(client).track({
        userId: 'customer-1',
        event: 'Order Placed',
        properties: { orderId: id, product },
      });
      if (isOutOfStock) throw new Error(`${product} is out of stock`);
      await client.query('COMMIT');
      return id;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }

  async list(): Promise<string[]> {
    const { rows } = await this.pool.query<{ id: string }>('SELECT id FROM sample_09_order ORDER BY id');
    return rows.map(({ id }) => id);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
