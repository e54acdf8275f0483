import { randomBytes } from 'node:crypto';

import { Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { within } from '../../common/promise.util.js';
import { RequestError } from '../http/request.error.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import { type RegistryRecord, SESSION_TIME } from '../queue/registry-store.interface.js';
import { StoreFollower } from '../registry/store.follower.js';
import { type AdminTokens, holderOf, tieOf, type TokenRole } from './admin.tokens.js';
import { isOver, nameOf, parseSession, type Session, type StoredSession } from './session.record.js';

/** Default of `idleTimeout`, in ms: 30 min. */
const IDLE_TIMEOUT = 30 * 60 * 1_000;

/** Minimum time between two writes of a session's last use, in ms: a write is durable, and reaches every process. */
const WRITE_INTERVAL = 60_000;

/** Interval at which sessions that are over are removed from the store, in ms. */
const SWEEP_INTERVAL = 5_000;

/** How long a sign-out waits for the store, in ms. */
const END_TIME = 1_000;

/** Maximum number of sessions of a token. The next one ends the session of the token that was used least recently. */
const MAX_SESSIONS = 100;

/** Maximum number of ended names for which a further name that this process does not know is remembered. */
const MAX_ENDED = 10_000;

const ID_BYTES = 32;

interface FoundSession {
  name: string;
  session: Session;
  role: TokenRole;
}

/**
 * Sessions of browsers. Each is a record of the queue's store, so that all processes know it, and each process has a
 * copy of all of them. The browser has the id, 32 random bytes; the store has the SHA-256 of the id as the name of the
 * record. While the store cannot be read, the sessions that this process knows stay valid for 5 minutes.
 *
 * A session ends at sign-out, after `idleTimeout` without a request, 12 h after its start, and when its token changes.
 */
export class AdminSessions {
  private readonly ending = new Subject<void>();
  /** Emits when sessions have ended. */
  readonly ended$ = this.ending.asObservable();
  readonly #sessions = new Map<string, Session>();
  /**
   * Names of the sessions that were ended in this process, with the time from which they would be over anyway. Until
   * then they do not count, whatever the store has. A name without a time has to be looked for in the store first.
   */
  private readonly ended = new Map<string, number | undefined>();
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');
  private readonly follower: StoreFollower<'session'>;
  private lastSweep: Promise<unknown> = Promise.resolve();
  private nextSweep: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: Pick<DeliveryQueue, 'now' | 'registry'>,
    private readonly tokens: AdminTokens,
    private readonly idleTimeout = IDLE_TIMEOUT,
  ) {
    const subject = 'The sessions of the admin API';
    this.follower = new StoreFollower(queue.registry, ['session'], subject, (...read) => this.apply(...read));
  }

  /** Resolves once all sessions are known. Called once the queue is open. */
  async open(): Promise<void> {
    await this.follower.start();
    this.timer = setInterval(() => void this.sweep(), SWEEP_INTERVAL).unref();
  }

  close(): void {
    clearInterval(this.timer);
    this.follower.stop();
    this.logger.end();
  }

  /** Starts a session. Resolves with its id once it is stored. */
  async start(role: TokenRole): Promise<string> {
    const holder = holderOf(role);
    const own = [...this.#sessions].filter(([, session]) => session.holder === holder);
    own.sort(([, one], [, other]) => one.seenAt - other.seenAt);
    for (const [name, { revision }] of own.slice(0, Math.max(0, own.length - MAX_SESSIONS + 1))) {
      await this.write(name, undefined, revision);
    }
    const id = randomBytes(ID_BYTES).toString('base64url');
    const now = this.queue.now();
    const tie = tieOf(id, role).toString('base64url');
    await this.write(nameOf(id), { tie, holder, startedAt: now, usedAt: now }, 0);
    return id;
  }

  /**
   * Returns the role of the session that one of the ids has.
   *
   * @param isUse whether the request counts as a use of the session
   * @throws {RequestError} 401 if the ids have several sessions, because another host may have set one of them
   * @throws {QueueUnavailableError} if the store cannot be read, and this process does not know the session or has not
   * read the store for 5 minutes
   */
  async find(ids: string[], isUse: boolean): Promise<TokenRole | undefined> {
    if (ids.every((id) => this.ended.has(nameOf(id)))) return undefined;
    let found = this.findKnown(ids);
    if (found.length === 0 || this.follower.isOutdated) {
      await this.catchUp(); // another process may have started or ended it
      found = this.findKnown(ids);
    }
    const [first, ...others] = found;
    if (others.length > 0) {
      throw new RequestError('admin_token_wrong', 'the cookies are of several sessions; sign in again', 'Cookie');
    }
    if (first && isUse) this.use(first.name, first.session);
    return first?.role;
  }

  /**
   * Ends the sessions with these ids, in this process at once. Resolves with their roles once that is stored; if the
   * store is unavailable, after a second or two, and it is stored as soon as it can be.
   */
  async end(ids: string[]): Promise<TokenRole[]> {
    const roles = this.endKnown(ids);
    const unknown = ids.filter((id) => !this.ended.has(nameOf(id)));
    if (unknown.length > 0) {
      await within(END_TIME, this.follower.catchUp(), 'the read of the sessions').then(
        () => roles.push(...this.endKnown(unknown)),
        () => this.endLater(unknown),
      );
    }
    if (ids.some((id) => this.ended.has(nameOf(id)))) {
      await within(END_TIME, this.sweep(), 'the end of a session').catch(() => undefined);
    }
    return roles;
  }

  /** @throws {QueueUnavailableError} if the store cannot be read */
  private catchUp(): Promise<void> {
    return this.follower.requireLatest('the sessions');
  }

  private endKnown(ids: string[]): TokenRole[] {
    const found = this.findKnown(ids);
    for (const { name, session } of found) this.ended.set(name, session.startedAt + SESSION_TIME);
    if (found.length > 0) this.ending.next();
    return found.map(({ role }) => role);
  }

  private endLater(ids: string[]): void {
    for (const id of ids) if (this.ended.size < MAX_ENDED) this.ended.set(nameOf(id), undefined);
  }

  private findKnown(ids: string[]): FoundSession[] {
    const now = this.queue.now();
    return [...new Set(ids)].flatMap((id) => {
      const name = nameOf(id);
      const session = this.#sessions.get(name);
      if (!session || this.ended.has(name) || isOver(session, this.idleTimeout, now)) return [];
      const role = this.tokens.findTied(id, session.tie);
      return role ? [{ name, session, role }] : [];
    });
  }

  private use(name: string, session: Session): void {
    const now = this.queue.now();
    session.seenAt = now;
    if (now - session.usedAt < Math.min(WRITE_INTERVAL, this.idleTimeout / 2)) return;
    session.usedAt = now; // a failed write is not repeated by the next request, which would fail, too
    const { tie, holder, startedAt, revision } = session;
    this.write(name, { tie, holder, startedAt, usedAt: now }, revision).catch((error: unknown) =>
      this.logger.limited('warn', `The last use of a session cannot be stored: ${errorMessage(error)}`),
    );
  }

  /** Removes the sessions that are over. Calls made before a sweep begins share it. Never rejects. */
  private sweep(): Promise<void> {
    this.nextSweep ??= this.lastSweep.then(async () => {
      this.nextSweep = undefined;
      try {
        await this.removeOver();
        this.logger.succeeded();
      } catch (error) {
        this.logger.failed(`The end of sessions cannot be stored; it is tried again: ${errorMessage(error)}`);
      }
    });
    return (this.lastSweep = this.nextSweep);
  }

  private async removeOver(): Promise<void> {
    const now = this.queue.now();
    const unknown = [...this.ended].flatMap(([name, endsAt]) => (endsAt === undefined ? [name] : []));
    if (unknown.length > 0) await this.follower.catchUp();
    for (const name of unknown) {
      const session = this.#sessions.get(name);
      if (session) this.ended.set(name, session.startedAt + SESSION_TIME);
      else this.ended.delete(name);
    }
    for (const [name, endsAt = now + 1] of this.ended) if (endsAt <= now) this.ended.delete(name);
    for (const [name, session] of [...this.#sessions]) {
      if (this.ended.has(name)) await this.removeEnded(name);
      else if (isOver(session, this.idleTimeout, now)) await this.write(name, undefined, session.revision);
    }
  }

  private async removeEnded(name: string): Promise<void> {
    for (let session; (session = this.#sessions.get(name));) {
      if (await this.write(name, undefined, session.revision)) return;
      await this.follower.reload(); // another process has changed it
    }
  }

  /** Resolves with whether the session still had the revision, once the change is in use. */
  private async write(name: string, session: StoredSession | undefined, expected: number): Promise<boolean> {
    const record = { kind: 'session' as const, name, document: session && JSON.stringify(session) };
    const revision = await this.queue.registry.write(record, expected);
    if (revision !== undefined) await this.follower.applied({ ...record, revision });
    return revision !== undefined;
  }

  private apply(records: RegistryRecord<'session'>[], areAll: boolean): Promise<void> {
    const present = new Set(records.map(({ name }) => name));
    const gone = areAll ? [...this.#sessions.keys()].filter((name) => !present.has(name)) : [];
    for (const name of gone) this.#sessions.delete(name);
    let hasEnded = gone.length > 0;
    for (const { name, revision, document } of records) {
      const session = document === undefined ? undefined : parseSession(document);
      const seenAt = this.#sessions.get(name)?.seenAt ?? 0;
      if (session) this.#sessions.set(name, { ...session, revision, seenAt: Math.max(seenAt, session.usedAt) });
      else hasEnded = this.#sessions.delete(name) || hasEnded;
    }
    if (hasEnded) this.ending.next();
    return Promise.resolve();
  }
}
