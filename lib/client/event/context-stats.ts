/** Takes the metrics of plugins. */
export interface ContextStats {
  increment(metric: string, by?: number, tags?: string[]): void;
  gauge(metric: string, value: number, tags?: string[]): void;
  flush(): void;
}

const ignore = (): void => undefined;

/** Ignores all metrics. */
export const NO_STATS: ContextStats = { increment: ignore, gauge: ignore, flush: ignore };
