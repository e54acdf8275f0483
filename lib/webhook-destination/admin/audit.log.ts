import { Subject } from 'rxjs';

import { LimitedLogger } from '../../common/limited.logger.js';
import type { AdminCaller } from './admin.caller.js';

/** A change by an administrative route, or a refused sign-in. */
export interface AuditEntry {
  /** When, in ms since the epoch. */
  at: number;
  /** What was done, such as `destination.update`, `delivery.replay`, `user.delete` or `sign-in.refused`. */
  action: string;
  /** How the caller signed in; undefined for a refused sign-in. */
  by?: AdminCaller['by'];
  /** Who the caller is, where the application's guard says so. */
  user?: string;
  /** The client's address; an IPv6 one as its network. */
  address: string;
  /** What it was done to: the name or id of an entry, delivery or user. */
  target?: string;
  /** What changed, without secrets. */
  details?: Record<string, unknown>;
}

/** Logs what was done by the administrative routes, a line of JSON each, and passes it on. */
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

  /** Many in a row are counted, not logged. */
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
