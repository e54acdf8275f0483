import { Random } from '../support/random.js';

/** The system time at the start of each simulation, in ms since the epoch. */
const EPOCH = Date.UTC(2026, 0, 1);

/** In what order Node's event loop handles what is due at the same moment: after a pause, timers come before answers. */
const RANKS = { timer: 0, answer: 1, immediate: 2 };

/** The clock of a machine. Its processes come and go. */
export interface Machine {
  name: string;
  /** How far its system clock is ahead of the true time, in ms. */
  clockOffset: number;
}

/** A process of a machine. What it waits for is dropped when it is killed, and waits while it is frozen. */
export interface SimulatedProcess {
  machine: Machine;
  isAlive: boolean;
  frozenUntil: number;
  /** Values that the package keeps once for the process, by their symbol. */
  values: Map<symbol, unknown>;
}

interface Step {
  at: number;
  rank: number;
  order: number;
  process: SimulatedProcess | undefined;
  run: () => void;
  isCancelled: boolean;
}

/**
 * Owns time and order: whatever is scheduled runs as a step, at its moment, and nothing runs between steps. A step ends
 * when no promise that it settled has anything left to do. All randomness is drawn from the seed.
 */
export class Simulation {
  readonly random: Random;
  /** The true time, in ms; also that of the monotonic clocks. */
  now = 1_000;
  /** The process that the current step belongs to. */
  current: SimulatedProcess | undefined;
  /** What happened, a line each. */
  readonly story: string[] = [];
  /** Whether the story has each request and each outcome. */
  isDetailed = false;
  steps = 0;
  private readonly heap: Step[] = [];
  private scheduled = 0;

  constructor(readonly seed: number) {
    this.random = new Random(seed);
  }

  /** The system time of the machine whose process runs, in ms since the epoch. */
  get systemTime(): number {
    return this.current ? this.timeOf(this.current.machine) : EPOCH + this.now;
  }

  /** Returns the system time of a machine, in ms since the epoch. */
  timeOf({ clockOffset }: Machine): number {
    return EPOCH + this.now + clockOffset;
  }

  /** Returns the moment that is so many ms after the beginning. */
  startOf(offset: number): number {
    return 1_000 + offset;
  }

  tell(line: string): void {
    this.story.push(`${(this.now / 1_000).toFixed(3).padStart(10)} s  ${line}`);
  }

  /** Tells what only a detailed story has. */
  detail(line: () => string): void {
    if (this.isDetailed) this.tell(line());
  }

  /** Schedules a step of a process, or of the world if there is none. */
  after(delay: number, process: SimulatedProcess | undefined, kind: keyof typeof RANKS, run: () => void): Step {
    const at = this.now + Math.max(0, delay);
    const step: Step = { at, rank: RANKS[kind], order: this.scheduled++, process, run, isCancelled: false };
    this.push(step);
    return step;
  }

  /** Runs a step as one of a process. */
  enter<T>(process: SimulatedProcess | undefined, run: () => T): T {
    this.current = process;
    const values = globalThis as unknown as Record<symbol, unknown>;
    for (const [key, value] of process?.values ?? []) values[key] = value;
    return run();
  }

  /** Runs steps until a condition is true or a moment has come; resolves with whether it is true. */
  async run(until: number, isDone: () => boolean = () => false): Promise<boolean> {
    while (!isDone()) {
      const step = this.heap[0];
      if (!step || step.at > until) {
        this.now = Math.max(this.now, until);
        return isDone();
      }
      this.pop();
      if (step.isCancelled || step.process?.isAlive === false) continue;
      const { frozenUntil = 0 } = step.process ?? {};
      if (frozenUntil > step.at) {
        step.at = frozenUntil;
        this.push(step);
        continue;
      }
      this.now = Math.max(this.now, step.at);
      this.steps++;
      this.enter(step.process, step.run);
      await stepEnd();
    }
    return true;
  }

  private push(step: Step): void {
    const { heap } = this;
    let index = heap.push(step) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!precedes(step, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = step;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && precedes(heap[child + 1]!, heap[child]!)) child++;
      if (!precedes(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

function precedes(one: Step, other: Step): boolean {
  return one.at - other.at < 0 || (one.at === other.at && (one.rank - other.rank || one.order - other.order) < 0);
}

const realImmediate = setImmediate;

/** Resolves once all promises and ticks have been handled. */
function stepEnd(): Promise<void> {
  return new Promise((resolve) => void realImmediate(resolve));
}
