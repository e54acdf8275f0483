export const POSTGRES_URL = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

export type TransactionContender = 'no event' | 'outbox row' | 'inTransaction().track()' | 'no event, with NOTIFY';
