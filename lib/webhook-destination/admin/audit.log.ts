import { Subject } from 'rxjs';

import { LimitedLogger } from '../../common/limited.logger.js';
import type { AdminCaller } from './admin.options.js';

/** A change made through an admin route, or a refused sign-in. */
export interface AuditEntry {
  /** Time of the action, in ms since the epoch. */
  at: number;
  /** The action, such as `destination.update`, `delivery.replay`, `user.delete` or `sign-in.refused`. */
  action: string;
  /** How the caller signed in; undefined for a refused sign-in. */
  by?: AdminCaller['by'];
  /** The caller's identity, if the application's guard left it on the request. */
  user?: string;
  /** Address of the client; for IPv6, its network. */
  address: string;
  /** Name or id of the entry, delivery, replay or user that the action concerns. */
  target?: string;
  /** Details of the action, without secrets. */
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

  /** Records a refused sign-in. If there are many in a row, the log only counts them. */
  refused(address: string, code: string): void {
    const entry: AuditEntry = { at: Date.now(), action: 'sign-in.refused', address, details: { code } };
    this.logger.limited('warn', JSON.stringify(entry));
    this.entries.next(entry);
  }

  close(): void {
    this.logger.end();
    this.entries.complete();
  }
}
