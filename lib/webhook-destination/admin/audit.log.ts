import { Subject } from 'rxjs';

import { LimitedLogger } from '../../common/limited.logger.js';
import type { AdminCaller } from './admin.options.js';

/** A sign-in, or what a caller changed or was refused through an admin route. */
export interface AuditEntry {
  /** Time of the action, in ms since the epoch. */
  at: number;
  /**
   * The action: `sign-in`, `sign-out`, a change such as `destination.update`, `delivery.replay` or `user.delete`,
   * `change.failed`, `sign-in.refused`, or `request.refused`.
   */
  action: string;
  /** How the caller signed in; undefined if the caller is unknown. */
  by?: AdminCaller['by'] | undefined;
  /** Name of the caller's token, or the identity that the application's guard left on the request. */
  user?: string | undefined;
  /** Address of the client; for IPv6, its network. */
  address: string;
  /** Name or id of the entry, delivery, replay or user that the action concerns. */
  target?: string | undefined;
  /** Details of the action, without secrets and bodies. */
  details?: Record<string, unknown>;
}

/** Logs each action of the admin routes as a line of JSON, and emits it on `entries$`. */
export class AuditLog {
  private readonly logger = new LimitedLogger('WebhookDestinationAudit');
  private readonly entries = new Subject<AuditEntry>();
  /** Completes when the application closes. */
  readonly entries$ = this.entries.asObservable();

  record(given: Omit<AuditEntry, 'at'>): void {
    const entry: AuditEntry = { at: Date.now(), ...given };
    this.logger.log(JSON.stringify(entry));
    this.entries.next(entry);
  }

  /** Records what was refused. If there is much of it in a row, the log only counts it. */
  refused(given: Omit<AuditEntry, 'at'>): void {
    const entry: AuditEntry = { at: Date.now(), ...given };
    this.logger.limited('warn', JSON.stringify(entry));
    this.entries.next(entry);
  }

  close(): void {
    this.logger.end();
    this.entries.complete();
  }
}
