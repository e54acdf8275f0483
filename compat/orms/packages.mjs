import { PrismaPg } from '@prisma/adapter-pg';
import { MikroORM } from '@mikro-orm/postgresql';
import { drizzle } from 'drizzle-orm/node-postgres';
import { sql as drizzleSql } from 'drizzle-orm';
import knex from 'knex';
import { Kysely, PostgresDialect, sql as kyselySql } from 'kysely';
import pg from 'pg';
import prisma from '@prisma/client';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';

/**
 * Opens each package on a database: `transact` runs work in a transaction and commits it, or rolls it back if the work
 * rejects; `run` runs a statement in it; `none` are values that are no transaction.
 */
export const PACKAGES = {
  pg: async (url) => {
    const pool = new pg.Pool({ connectionString: url });
    return {
      none: { pool },
      run: (tx, text) => tx.query(text),
      transact: async (work, isolation = 'READ COMMITTED') => {
        const client = await pool.connect();
        try {
          await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
          const result = await work(client);
          await client.query('COMMIT');
          return result;
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        } finally {
          client.release();
        }
      },
      close: () => pool.end(),
    };
  },
  TypeORM: async (url) => {
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
    const queryRunner = dataSource.createQueryRunner();
    return {
      none: { dataSource, manager: dataSource.manager, queryRunner },
      run: (tx, text) => tx.query(text),
      transact: (work, isolation = 'READ COMMITTED') => dataSource.transaction(isolation, work),
      close: async () => {
        await queryRunner.release();
        await dataSource.destroy();
      },
    };
  },
  'TypeORM QueryRunner': async (url) => {
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
    return {
      none: {},
      run: (tx, text) => tx.query(text),
      transact: async (work, isolation = 'READ COMMITTED') => {
        const queryRunner = dataSource.createQueryRunner();
        await queryRunner.startTransaction(isolation);
        try {
          const result = await work(queryRunner);
          await queryRunner.commitTransaction();
          return result;
        } catch (error) {
          await queryRunner.rollbackTransaction();
          throw error;
        } finally {
          await queryRunner.release();
        }
      },
      close: () => dataSource.destroy(),
    };
  },
  Prisma: async (url) => {
    const client = new prisma.PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
    return {
      none: { client },
      run: (tx, text) => tx.$executeRawUnsafe(text),
      transact: (work, isolation) =>
        client.$transaction(work, {
          timeout: 60_000,
          maxWait: 60_000,
          ...(isolation && { isolationLevel: { SERIALIZABLE: 'Serializable' }[isolation] }),
        }),
      close: () => client.$disconnect(),
    };
  },
  Drizzle: async (url) => {
    const pool = new pg.Pool({ connectionString: url });
    const db = drizzle(pool);
    return {
      none: { db },
      run: (tx, text) => tx.execute(drizzleSql.raw(text)),
      transact: (work, isolation = 'READ COMMITTED') =>
        db.transaction(work, { isolationLevel: isolation.toLowerCase() }),
      close: () => pool.end(),
    };
  },
  Knex: async (url) => {
    const db = knex({ client: 'pg', connection: url });
    return {
      none: { knex: db },
      run: (tx, text) => tx.raw(text),
      transact: (work, isolation = 'READ COMMITTED') =>
        db.transaction(work, { isolationLevel: isolation.toLowerCase() }),
      close: () => db.destroy(),
    };
  },
  Kysely: async (url) => {
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });
    return {
      none: { db },
      run: (tx, text) => kyselySql.raw(text).execute(tx),
      transact: (work, isolation = 'READ COMMITTED') =>
        db.transaction().setIsolationLevel(isolation.toLowerCase()).execute(work),
      close: () => db.destroy(),
    };
  },
  MikroORM: async (url) => {
    const orm = await MikroORM.init({ clientUrl: url, entities: [], discovery: { warnWhenNoEntities: false } });
    return {
      none: { em: orm.em.fork() },
      run: (tx, text) => tx.execute(text),
      transact: (work, isolation = 'READ COMMITTED') =>
        orm.em.fork().transactional(work, { isolationLevel: isolation.toLowerCase() }),
      close: () => orm.close(),
    };
  },
  Sequelize: async (url) => {
    const sequelize = new Sequelize(url, { dialect: 'postgres', logging: false });
    return {
      none: { sequelize },
      run: (tx, text) => sequelize.query(text, { transaction: tx }),
      transact: (work, isolationLevel = 'READ COMMITTED') => sequelize.transaction({ isolationLevel }, work),
      close: () => sequelize.close(),
    };
  },
};
