import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

import type { DeliveryRecord } from 'nestjs-analytics-relay';

/** What {@link FuzzedRelay.ask} answers. */
interface Answers {
  port: number;
  /** Some of the deliveries that are not delivered. */
  undelivered: DeliveryRecord[];
  /** Bytes in use after a collection, the heap and what is outside it. */
  heap: number;
  /** Bytes that the process has in memory, with those of its threads. */
  rss: number;
}

/** A relay in a process of its own, which tells how it is. */
export class FuzzedRelay {
  /** What it logged. */
  log = '';

  private constructor(private readonly child: ChildProcess) {
    const append = (chunk: Buffer) => (this.log += chunk.toString());
    child.stdout!.on('data', append);
    child.stderr!.on('data', append);
  }

  /** @param nodeOptions of the process, such as `--max-old-space-size=192` */
  static async start(
    options: { platform: string; database: string; url: string },
    ...nodeOptions: string[]
  ): Promise<FuzzedRelay> {
    const child = fork('test/apps/fuzzed.app.mjs', [JSON.stringify(options)], {
      execArgv: ['--expose-gc', ...nodeOptions],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const relay = new FuzzedRelay(child);
    const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as unknown[];
    if (message !== 'listening') throw new Error(`the relay did not start: ${relay.log}`);
    return relay;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  ask<Question extends keyof Answers>(question: Question): Promise<Answers[Question]> {
    return new Promise((resolve, reject) => {
      const take = (message: { question: string; answer: Answers[Question] }) => {
        if (message.question !== question) return;
        this.child.off('message', take);
        resolve(message.answer);
      };
      this.child.on('message', take);
      this.child.send(question, (error) => error && reject(error));
    });
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}
