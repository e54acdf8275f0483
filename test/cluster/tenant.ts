import { verifySignature, verifyStandardWebhook } from 'nestjs-analytics-relay';

import type { ReceivedWebhook } from '../support/receiver.js';

/** How long a change may take to hold in every process, in ms. */
const HOLDS_WITHIN = 1_000;

/** When something held, in ms since the epoch: from the call that began it to the answer of the one that ended it. */
interface Period {
  from: number;
  until: number;
}

/** A destination, as its test knows it from the answers to its changes. */
export class Tenant {
  readonly secrets: (Period & { secret: string })[] = [];
  readonly paths: (Period & { path: string })[] = [];
  readonly pauses: Period[] = [];
  private readonly webhooks: Omit<ReceivedWebhook, 'status'>[] = [];
  existence: Period = { from: Infinity, until: Infinity };
  /** When its removal was asked for: what is accepted from then on may pass it by, in ms since the epoch. */
  removalFrom = Infinity;
  /** Whether a change was begun whose answer is missing. */
  isUncertain = false;

  constructor(readonly name: string) {}

  get isPaused(): boolean {
    return this.pauses.at(-1)?.until === Infinity;
  }

  take(webhook: Omit<ReceivedWebhook, 'status'>): void {
    this.webhooks.push(webhook);
  }

  get received(): Set<string> {
    return new Set(this.webhooks.map(({ headers }) => String(headers['x-message-id'])));
  }

  /** What it got that it should not have. */
  get faults(): string[] {
    return this.webhooks.flatMap((webhook) => {
      const fault = this.faultOf(webhook);
      return fault ? `${this.name}: ${fault} (${String(webhook.headers['x-message-id'])} at ${webhook.path})` : [];
    });
  }

  /** Whether a message was, for certain, to go to it. */
  gets({ began, acknowledged }: { began: number; acknowledged: number }): boolean {
    return began > this.existence.from + HOLDS_WITHIN && acknowledged < this.removalFrom;
  }

  private faultOf({ headers, path, raw, at }: Omit<ReceivedWebhook, 'status'>): string | undefined {
    if (at > this.existence.until + HOLDS_WITHIN) return `removed ${at - this.existence.until} ms ago`;
    const pause = this.pauses.find(({ from, until }) => at > from + HOLDS_WITHIN && at < until);
    if (pause) return `paused ${at - pause.from} ms ago`;
    if (!heldAt(this.paths, at).some((one) => one.path === path)) return 'a path that it has no more';
    const valid = heldAt(this.secrets, at).map(({ secret }) => secret);
    const signatures = [headers['x-signature'], headers['x-signature-previous'] ?? []].flat();
    if (signatures.length === 0) return 'no signature';
    if (!signatures.every((signature) => verifySignature(raw, signature, valid)))
      return 'a signature of no valid secret';
    const standard = String(headers['webhook-signature']).split(' ');
    const isSigned = (one: string) => verifyStandardWebhook(raw, { ...headers, 'webhook-signature': one }, valid);
    return standard.every(isSigned) ? undefined : 'a standard signature of no valid secret';
  }
}

function heldAt<T extends Period>(periods: T[], at: number): T[] {
  return periods.filter(({ from, until }) => from <= at && at <= until + HOLDS_WITHIN);
}
