import { LineLogger } from './line.logger.js';

/** Different lines that are warned of; from then on all count as repeated. */
const MAX_LINES = 100;

/** Warns of each fault once; its repetitions, which may come with every request, are debug lines. */
export class FaultLog {
  private readonly logger: LineLogger;
  private readonly told = new Set<string>();

  constructor(subject: string) {
    this.logger = new LineLogger(subject);
  }

  warn(line: string): void {
    if (this.told.has(line) || this.told.size >= MAX_LINES) return this.logger.debug(line);
    this.told.add(line);
    this.logger.warn(line);
  }
}
