import type { RelayError } from '../../client/relay.error.js';
import { activeTraceText } from '../../client/telemetry/trace-context.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { refuseFields, RequestError } from '../http/request.error.js';
import type { AuditEntry } from '../observe/audit.log.js';
import { type NewDelivery, toNoticeId } from '../queue/delivery.interface.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import { createLogId } from '../queue/log-store.interface.js';
import { MAX_NAMES } from '../queue/query.util.js';
import type { DestinationRouter } from '../routing/destination.router.js';

/** Maximum number of users per deletion: the request is held in memory, and one pass over the queue serves them all. */
export const MAX_USERS = MAX_NAMES;

/** The users whose data is deleted, and the sources it is deleted from. */
export interface DeletionRequest {
  /** The user; together with `userIds`, an additional one. */
  userId?: string | undefined;
  /** Several users, 1,000 at most. */
  userIds?: string[] | undefined;
  /** Names of the sources affected, at least one. Default: every source. */
  sources?: string[] | undefined;
}

/** Result of a deletion. */
export interface DeletionResult {
  /** Id of the deletion, under which the activity has its proof. */
  id: string;
  /** Delete notifications queued: one for each user and each enabled destination of the affected sources. */
  notifications: number;
  /** The users' deliveries that were removed from the queue, with bodies and attempts. */
  purged: number;
  /** The users' refused messages that were removed. */
  refused: number;
}

/** Whom a deletion would notify. */
export interface DeletionPreview {
  /** Names of the destinations that would be notified, at most 100. */
  receivers: string[];
  /** Delete notifications that would be queued. */
  notifications: number;
  /** Number of these destinations that are disabled endpoints: their notifications would become dead. */
  disabledEndpoints: number;
  /** Number of endpoints of tenants that would not be notified, because no source is named. */
  leftOut: number;
  /** Names of the disabled destinations, which would not be notified, at most 100. */
  disabled: string[];
}

/** Records a deletion in the audit log. */
export type RecordDeletion = (entry: Omit<AuditEntry, 'at' | 'by' | 'user' | 'address'>) => void;

/** Maximum number of receivers, and of disabled destinations, that a preview names. */
const MAX_RECEIVERS = 100;

/** Removes the deliveries and refused messages of users, and sends delete notifications to the receivers. */
export class UserDeletion {
  /** @param store queues the notices durably, beyond its size limit as well; resolves with their number */
  constructor(
    private readonly sources: { readonly names: string[] },
    private readonly router: DestinationRouter,
    private readonly queue: DeliveryQueue,
    private readonly store: (notices: Iterable<NewDelivery>) => Promise<number>,
  ) {}

  /**
   * Removes the users' deliveries, then queues the notifications, which may exceed the size limit of the queue. Resolves
   * once both are durable. If it rejects, the request must be repeated. A repeated one sends all its notifications;
   * earlier ones stay in the queue until they are sent, as this process may end before it has queued the new ones.
   *
   * @param record called at the end of a valid deletion, also if it failed: it may have removed some of the data
   * @throws {RequestError} that names the invalid field
   */
  async request(request: unknown, record: RecordDeletion): Promise<DeletionResult> {
    const { userIds, sources } = checkDeletion(request, this.sources.names);
    const trace = activeTraceText();
    const id = createLogId(Date.now());
    let purged = new Map<string, number>();
    const notified = new Map<string, number>();
    const end = (details: object) => {
      const { leftOut, disabled } = this.reachOf(sources);
      const deletion = {
        sources,
        purged: toRecord(purged),
        receivers: toRecord(notified),
        leftOut,
        disabled: disabled.slice(0, MAX_NAMES),
      };
      record({ action: 'user.delete', target: id, userIds, details: { users: userIds.length, ...details }, deletion });
    };
    try {
      // First, because the purge also overwrites what is left of them.
      const refused = await this.queue.refusals.removeUsers(userIds, sources);
      // Of any time: what was accepted before the clock was set back seems to be of the future.
      purged = await this.queue.purgeBySource({ userId: userIds, source: sources }, true);
      const notifications = await this.store(this.notices(id, userIds, sources, notified, trace));
      const result = { notifications, purged: [...purged.values()].reduce((sum, count) => sum + count, 0), refused };
      end({ sources, ...result });
      return { id, ...result };
    } catch (error) {
      end({ sources, failed: (error as Partial<RelayError>).code ?? 'failed' });
      throw error;
    }
  }

  /**
   * Returns whom a deletion would notify, without deleting anything.
   *
   * @throws {RequestError} that names the invalid field
   */
  preview(request: unknown): DeletionPreview {
    const { userIds, sources } = checkDeletion(request, this.sources.names);
    const { receivers, leftOut, disabled } = this.reachOf(sources);
    return {
      receivers: receivers.slice(0, MAX_RECEIVERS),
      notifications: receivers.length * userIds.length,
      disabledEndpoints: receivers.filter((name) => this.router.isDisabledEndpoint(name)).length,
      leftOut,
      disabled: disabled.slice(0, MAX_RECEIVERS),
    };
  }

  /**
   * Returns whom a deletion notifies, and whom it does not.
   *
   * @param sources undefined for all, and then no endpoint of a tenant is notified: the user may be another tenant's
   */
  private reachOf(sources: string[] | undefined): { receivers: string[]; leftOut: number; disabled: string[] } {
    const withTenants = sources !== undefined;
    const names = sources ?? this.sources.names;
    const receivers = [...this.router.receiversOf(names, withTenants).keys()];
    return {
      receivers,
      leftOut: withTenants ? 0 : this.router.receiversOf(names, true).size - receivers.length,
      disabled: this.router.disabledOf(names, withTenants),
    };
  }

  /** @param notified gets the number of notices by destination */
  private *notices(
    id: string,
    userIds: string[],
    sources: string[] | undefined,
    notified: Map<string, number>,
    trace?: string,
  ): Generator<NewDelivery> {
    for (const [index, userId] of userIds.entries()) {
      const messageId = toNoticeId(id, index);
      const notices = this.router.routeDeletion(
        sources ?? this.sources.names,
        sources !== undefined, // otherwise the user may be another tenant's
        userId,
        messageId,
        Date.now(),
        this.queue.now(),
        trace,
      );
      for (const notice of notices) {
        notified.set(notice.destination, (notified.get(notice.destination) ?? 0) + 1);
        yield notice;
      }
    }
  }
}

function toRecord(counts: Map<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].slice(0, MAX_NAMES));
}

/**
 * Validates a deletion request. Returns the users, each once, and the affected sources, each once; undefined for all.
 *
 * @param known names of all sources
 * @throws {RequestError} 400 that names the invalid field
 */
function checkDeletion(request: unknown, known: string[]): { userIds: string[]; sources: string[] | undefined } {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new RequestError('body_not_object', 'a deletion must be an object with userId or userIds', 'body');
  }
  const { userId, userIds, sources, ...others } = request as Record<keyof DeletionRequest, unknown>;
  refuseFields(others); // otherwise, a misspelt `sources` would delete from all of them
  const isList = userIds === undefined || Array.isArray(userIds);
  const users: unknown[] = isList ? [...((userIds as unknown[] | undefined) ?? [])] : [];
  if (userId !== undefined) users.push(userId);
  if (!isList || users.length === 0 || !users.every(isNonEmptyString)) {
    const rule = 'userId, or each of userIds, must be a non-empty string';
    throw new RequestError('user_id_not_string', rule, 'userId');
  }
  const unique = [...new Set(users)];
  if (unique.length > MAX_USERS) {
    const rule = `userIds must be ${MAX_USERS} users at most; this request has ${unique.length}`;
    throw new RequestError('too_many_users', rule, 'userIds');
  }
  if (sources === undefined) return { userIds: unique, sources };
  const names = new Set<unknown>(Array.isArray(sources) ? sources : []);
  const unknown = [...names].find((name) => !known.includes(name as string));
  if (names.size === 0 || names.size > MAX_NAMES || unknown !== undefined) {
    const which = unknown === undefined ? '' : `; ${JSON.stringify(unknown).slice(0, 100)} is none`;
    const rule = `sources must be a list of 1 to ${MAX_NAMES} names of sources${which}`;
    throw new RequestError('source_unknown', rule, 'sources', 400);
  }
  return { userIds: unique, sources: [...names] as string[] };
}
