import type { IQueueBackend } from 'bullmq';

import { lacksWindow } from './job.codec.js';
import { LOCK_DURATION, STALLED_INTERVAL } from './shared-store.interface.js';

/** Makes jobs due again whose process has ended without a word, and has their windows begin with the lost lease. */
export class StalledRecovery {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  /** @param isOurs whether this process holds a job */
  constructor(
    private readonly backend: IQueueBackend,
    private readonly isOurs: (jobId: string) => boolean,
  ) {}

  start(): void {
    this.look();
    this.timer = setInterval(() => this.look(), STALLED_INTERVAL);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    this.running ??= this.recover()
      .catch(() => undefined) // fetching fails too, and logs it
      .finally(() => (this.running = undefined));
  }

  private async recover(): Promise<void> {
    const { backend } = this;
    const [active = []] = (await backend.getRanges(['active'], 0, -1)) as unknown as [string[]?];
    const suspectsOf = Date.now() - LOCK_DURATION / 2;
    for (const id of active) {
      if (this.isOurs(id)) continue;
      const job = await backend.getJobData(id);
      if (!job?.processedOn || job.processedOn > suspectsOf || !lacksWindow(job)) continue;
      // A field of its own, so that it overwrites nothing, should the job move on meanwhile.
      await backend.updateProgress(id, job.processedOn).catch(() => undefined);
    }
    await backend.moveStalledJobsToWait();
  }
}
