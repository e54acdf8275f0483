import { Subject } from 'rxjs';

import { LimitedLogger } from '../../common/limited.logger.js';

/** What a deletion did. Of sources and of destinations, at most 1,000 are named. */
export interface DeletionProof {
  /** Names of the sources it was limited to; undefined for all. */
  sources?: string[] | undefined;
  /** Number of removed deliveries by source. */
  purged: Record<string, number>;
  /** Number of delete notifications by destination. */
  receivers: Record<string, number>;
  /** Number of endpoints of tenants that were not notified, because no source was named. */
  leftOut: number;
  /** Names of the destinations that were not notified because they were disabled. */
  disabled: string[];
}

/** A sign-in, a deletion, or what a caller changed or was refused through an admin route or the portal. */
export interface AuditEntry {
  /** Time of the action, in ms since the epoch. */
  at: number;
  /**
   * The action: `sign-in`, `sign-out`, a change such as `destination.update`, `delivery.replay` or `user.delete`,
   * `change.failed`, `sign-in.refused`, or `request.refused`. Actions of the portal are those such as `endpoint.create`,
   * `endpoint.secret` (the secret was shown), `endpoint.replay`, `portal.link` and `portal.revoke`.
   */
  action: string;
  /**
   * How the caller signed in; `portal` for one with a portal link, `application` for what was done in code; undefined if
   * the caller is unknown.
   */
  by?: 'token' | 'session' | 'guard' | 'application' | 'portal' | undefined;
  /** The tenant whose portal or link it is. */
  tenant?: string | undefined;
  /**
   * Name of the caller's token, or the identity that the application's guard left on the request; with a portal link, the
   * `person` of the link.
   */
  user?: string | undefined;
  /** Address of the client; for IPv6, its network. Undefined for a deletion in code. */
  address?: string | undefined;
  /** Name or id of the entry, delivery, replay or deletion that the action concerns. */
  target?: string | undefined;
  /** The users that the action concerns. The stored activity has only digests of them. */
  userIds?: string[] | undefined;
  /** Details of the action, without secrets and bodies. */
  details?: Record<string, unknown>;
  /** What a deletion did, with names; the log line has only the numbers. */
  deletion?: DeletionProof | undefined;
}

/** Maximum number of values of a list in a line. */
const MAX_VALUES = 20;

/** Maximum length of a text in a line, in characters: an origin has fewer, and must not hide its end. */
const MAX_TEXT = 300;

/** Logs each action as a line of JSON, and emits it on `entries$`. */
export class AuditLog {
  private readonly logger = new LimitedLogger('WebhookDestinationAudit');
  /** Has a limit of its own, so that nobody unknown can keep the refusals of known callers out of the log. */
  private readonly unknownLogger = new LimitedLogger('WebhookDestinationAudit');
  private readonly entries = new Subject<AuditEntry>();
  /** Completes when the application closes. */
  readonly entries$ = this.entries.asObservable();

  record(given: Omit<AuditEntry, 'at'>): void {
    const entry: AuditEntry = { at: Date.now(), ...given };
    this.logger.log(toLine(entry));
    this.entries.next(entry);
  }

  /** Records what was refused. If there is much of it in a row, the log only counts it. */
  refused(given: Omit<AuditEntry, 'at'>): void {
    const entry: AuditEntry = { at: Date.now(), ...given };
    const logger = entry.by === undefined ? this.unknownLogger : this.logger;
    logger.limited('warn', toLine(entry));
    this.entries.next(entry);
  }

  close(): void {
    this.logger.end();
    this.unknownLogger.end();
    this.entries.complete();
  }
}

function toLine(entry: AuditEntry): string {
  return JSON.stringify({ ...entry, deletion: undefined }, shorten);
}

/** Replacer for `JSON.stringify` that cuts long texts and lists. */
export function shorten(_name: string, value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT) return `${value.slice(0, MAX_TEXT)}…`;
  if (Array.isArray(value) && value.length > MAX_VALUES) {
    return [...(value as unknown[]).slice(0, MAX_VALUES), `and ${value.length - MAX_VALUES} more`];
  }
  return value;
}
