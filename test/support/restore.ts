// Run before each spec file: a worker runs many of them in one process, and none may meet what another one changed.
import { ConsoleLogger, Logger } from '@nestjs/common';
import { afterAll, vi } from 'vitest';

import { watchListeners } from './process-listeners.js';

const env = { ...process.env };
const removeListeners = watchListeners('SIGINT', 'SIGTERM', 'unhandledRejection');

Logger.overrideLogger(new ConsoleLogger());
// The package counts for its process; a spec of metrics expects that nothing has been counted yet.
Reflect.deleteProperty(globalThis, Symbol.for('nestjs-analytics-relay:client-metrics'));

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  removeListeners();
});
