/** Severity of an entry in a context's log. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** An entry in a context's log. */
export interface LogMessage {
  level: LogLevel;
  message: string;
  time: Date;
  extras?: object | undefined;
}

/** The log of one event. Nothing is printed. */
export class ContextLogger {
  private entries: LogMessage[] = [];

  /** The entries, oldest first. */
  get logs(): LogMessage[] {
    return this.entries;
  }

  /** Adds an entry. */
  log(level: LogLevel, message: string, extras?: object): void {
    this.entries.push({ level, message, time: new Date(), extras });
  }

  /** Removes all entries. */
  flush(): void {
    this.entries = [];
  }
}
