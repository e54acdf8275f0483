import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of the bench's, and the conversation with it. */
export class Child {
  private constructor(private readonly process: ChildProcess) {}

  /** Resolves with the first that it says, once it is ready. */
  static start<T>(file: string, ...args: string[]): Promise<[Child, T]> {
    return Child.startWith([], file, ...args);
  }

  /** As `start`, with options of Node. */
  static async startWith<T>(options: string[], file: string, ...args: string[]): Promise<[Child, T]> {
    const execArgv = ['--expose-gc', ...options];
    const child = new Child(fork(fileURLToPath(new URL(`${file}.js`, import.meta.url)), args, { execArgv }));
    return [child, await child.said<T>()];
  }

  /** Sends an order that has no answer. */
  tell(order: object | string): void {
    this.process.send(order);
  }

  /** Sends an order; resolves with the answer. */
  ask<T>(order: object | string): Promise<T> {
    const answer = this.said<T>();
    this.process.send(order);
    return answer;
  }

  /** Freezes the process (`SIGSTOP`), or has it go on (`SIGCONT`). */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.process.kill(signal);
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null) return;
    const end = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await end;
  }

  private said<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const failed = () => reject(new Error('a process of the bench ended early'));
      this.process.once('exit', failed);
      this.process.once('message', (message) => {
        this.process.off('exit', failed);
        resolve(message as T);
      });
    });
  }
}
