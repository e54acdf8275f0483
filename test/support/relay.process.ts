import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import type { RetentionOptions } from 'nestjs-analytics-relay';

/** Options of {@link RelayProcess}. */
export interface RelayProcessOptions {
  database: string;
  retention?: RetentionOptions;
  urls: string[];
  delivery?: object;
  /** What the application `traced` runs on, whether it records, and the relay that it sends to in place of its own. */
  platform?: string;
  record?: boolean;
  host?: string;
  /** Where the application `shop` notes what it records; it records nothing without it. */
  notes?: string;
}

/** An application with a `WebhookDestinationModule`, as a process that can be killed. */
export class RelayProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** Its base URL. */
    readonly host: string,
    /** What it has printed. */
    readonly lines: string[] = [],
  ) {}

  static async start(options: RelayProcessOptions, app: 'relay' | 'shop' | 'traced' = 'relay'): Promise<RelayProcess> {
    const child = spawn(process.execPath, [`test/apps/${app}.app.mjs`, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout });
    output.on('line', (line) => lines.push(line));
    const isListening = (line: string) => line.startsWith('listening on ');
    const ended = once(output, 'close').then(() => true);
    while (!lines.some(isListening)) {
      if (await Promise.race([ended, once(output, 'line').then(() => false)])) {
        throw new Error(`the relay did not start: ${errors}${lines.join('\n')}`);
      }
    }
    return new RelayProcess(child, lines.find(isListening)!.split(' ')[2]!, lines);
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Asks it to end; resolves with its exit code. */
  end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return Promise.resolve(this.child.exitCode);
    this.child.kill(signal);
    return once(this.child, 'exit').then(([code]) => code as number | null);
  }
}
