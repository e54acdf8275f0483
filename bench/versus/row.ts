/** What was found after a kill, in messages. */
export interface Survival {
  /** Answered with 200, or recorded by a call that had returned. */
  acknowledged: number;
  /** Of these, neither delivered nor in a store when the wait was over. */
  lost: number;
  /** Of these, still in a store, not delivered. */
  kept: number;
  /** Deliveries of messages that had been delivered before. */
  repeated: number;
  /** From the restart until all had been delivered, in s; undefined if that did not happen within the wait. */
  seconds?: number;
}

/** What one run measured. */
export interface Measured {
  /** Deliveries a second, or events. */
  rate: number;
  /** CPU of the process for each, in us. */
  cpu: number;
  /** CPU of Redis or PostgreSQL for each, in us. */
  store?: number;
  /** Largest resident memory of the process, in MB. */
  memory: number;
}

/** Medians of a way. */
export interface Row extends Measured {
  way: string;
  /** Its CPU as a multiple of the floor's, of the same round. */
  ratio: number;
}

export const HEAD = [
  '',
  'a second',
  'CPU µs each',
  'CPU, x floor',
  'store, CPU µs each',
  'memory MB',
  'acknowledged at `kill -9`',
  'lost',
  'repeated',
  'all delivered after',
];

export function toCells(row: Row, { acknowledged, lost, kept, repeated, seconds }: Survival): string[] {
  const end = kept > 0 ? `${kept} still locked` : seconds === undefined ? '' : `${seconds.toFixed(0)} s`;
  return [
    row.way,
    row.rate.toFixed(0),
    row.cpu.toFixed(1),
    row.ratio.toFixed(2),
    row.store?.toFixed(0) ?? '',
    row.memory.toFixed(0),
    String(acknowledged),
    String(lost),
    String(repeated),
    end,
  ];
}
