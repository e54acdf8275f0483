// Run before each spec file: a worker runs many of them in one process, and none may meet what another one changed.
import { ConsoleLogger, Logger } from '@nestjs/common';
import { afterAll, vi } from 'vitest';

/** Events of the process that tests, commands and applications listen to. */
const EVENTS = ['SIGINT', 'SIGTERM', 'unhandledRejection'];

const env = { ...process.env };
const listeners = new Set(EVENTS.flatMap((event) => process.rawListeners(event)));

Logger.overrideLogger(new ConsoleLogger());

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  for (const event of EVENTS) {
    for (const listener of process.rawListeners(event)) {
      if (!listeners.has(listener)) process.removeListener(event, listener as () => void);
    }
  }
});
