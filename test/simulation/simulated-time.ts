import { createRequire, syncBuiltinESMExports } from 'node:module';

import type { Simulation } from './simulation.js';

const require = createRequire(import.meta.url);

let active: Simulation;

/** A timer of Node, as far as the package uses it. */
class SimulatedTimer {
  private step: ReturnType<Simulation['after']> | undefined;

  constructor(
    private readonly run: () => void,
    private readonly delay: number,
    private readonly kind: 'timer' | 'immediate',
    private readonly repeats = false,
  ) {
    this.start();
  }

  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;

  refresh(): this {
    this.clear();
    this.start();
    return this;
  }

  clear(): void {
    if (this.step) this.step.isCancelled = true;
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  private start(): void {
    this.step = active.after(this.delay, active.current, this.kind, () => {
      if (this.repeats) this.start();
      this.run();
    });
  }
}

type Run = (...args: unknown[]) => void;

const delayOf = (delay: number | undefined): number => Math.max(1, Math.trunc(delay ?? 1) || 1);
const setTimer = (run: Run, delay?: number, ...args: unknown[]) =>
  new SimulatedTimer(() => run(...args), delayOf(delay), 'timer');
const setRepeated = (run: Run, delay?: number, ...args: unknown[]) =>
  new SimulatedTimer(() => run(...args), delayOf(delay), 'timer', true);
const setTurn = (run: Run, ...args: unknown[]) => new SimulatedTimer(() => run(...args), 0, 'immediate');
const clear = (timer: SimulatedTimer | undefined) => timer?.clear();

/** `setTimeout` of `node:timers/promises`. */
function sleep<T>(delay?: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clear(timer);
      reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }));
    };
    const timer = setTimer(() => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    }, delay);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

const turnEnd = <T>(value?: T): Promise<T | undefined> => new Promise((resolve) => void setTurn(() => resolve(value)));

const systemDate = Date;

/** `Date`, whose current time is that of the simulation. */
const SimulatedDate = new Proxy(systemDate, {
  construct: (type, args, newTarget) =>
    Reflect.construct(type, args.length === 0 ? [active.systemTime] : args, newTarget) as Date,
  get: (type, key) => (key === 'now' ? now : (Reflect.get(type, key) as unknown)),
});
const now = () => Math.floor(active.systemTime);

/** Runs what uses Node's clocks, timers and `Math.random` on those of the simulation that `use` was last called with. */
export async function withSimulatedTime<T>(run: (use: (simulation: Simulation) => void) => Promise<T>): Promise<T> {
  const promises = require('node:timers/promises') as Record<string, unknown>;
  const hrtime = () => [Math.floor(active.now / 1e3), Math.round((active.now % 1e3) * 1e6)];
  const restores: (() => void)[] = [];
  const replace = (object: object, values: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(values)) {
      const descriptor = Object.getOwnPropertyDescriptor(object, key);
      Object.defineProperty(object, key, { value, configurable: true, writable: true });
      restores.push(() => {
        if (descriptor) Object.defineProperty(object, key, descriptor);
        else Reflect.deleteProperty(object, key);
      });
    }
  };
  const install = () => {
    replace(globalThis, { setTimeout: setTimer, clearTimeout: clear, setInterval: setRepeated, clearInterval: clear });
    replace(globalThis, { setImmediate: setTurn, clearImmediate: clear, Date: SimulatedDate });
    replace(globalThis.performance, { now: () => active.now });
    replace(globalThis.process, { hrtime });
    replace(Error, { stackTraceLimit: 0 }); // they take a tenth of the time
    replace(Math, { random: () => active.random.next() });
    replace(promises, { setTimeout: sleep, setImmediate: turnEnd });
    syncBuiltinESMExports();
  };
  let isInstalled = false;
  const use = (simulation: Simulation) => {
    active = simulation;
    if (!isInstalled) install();
    isInstalled = true;
  };
  try {
    return await run(use);
  } finally {
    for (const restore of restores.reverse()) restore();
    syncBuiltinESMExports();
  }
}
