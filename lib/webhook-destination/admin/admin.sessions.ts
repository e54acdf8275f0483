import { createHash, randomBytes } from 'node:crypto';

import { Subject } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { parseJson } from '../../common/value.util.js';
import type { RegistryRecord, RegistryStore } from '../queue/registry-store.interface.js';
import { StoreFollower } from '../registry/store.follower.js';
import { type AdminTokens, tieOf, type TokenRole } from './admin.tokens.js';

/** Longest lifetime of a session, in ms: 12 h. */
export const SESSION_TIME = 12 * 60 * 60 * 1_000;

/** Default of `idleTimeout`, in ms: 30 min. */
const IDLE_TIMEOUT = 30 * 60 * 1_000;

/** Minimum time between two writes of a session's last use, in ms: a write is durable, and reaches every process. */
const WRITE_INTERVAL = 60_000;

/** Interval at which expired sessions are removed, in ms. */
const SWEEP_INTERVAL = 60_000;

/** Maximum number of sessions. The next one ends the session that was used least recently. */
const MAX_SESSIONS = 1_000;

const ID_BYTES = 32;

/** A session as it is stored. */
interface StoredSession {
  /** Ties the session to the token it was started with. */
  tie: string;
  startedAt: number;
  usedAt: number;
}

interface Session extends StoredSession {
  revision: number;
  /** Last use in this process, which may be later than the one that is stored. */
  seenAt: number;
}

/**
 * Sessions of browsers. Each is a record of the queue's store, so that all processes know it, and each process has a
 * copy of all of them. The browser has the id, 32 random bytes; the store has the SHA-256 of the id as the name of the
 * record. While the store is unavailable, the sessions that this process knows stay valid.
 *
 * A session ends at sign-out, after `idleTimeout` without a request, 12 h after its start, and when its token changes.
 */
export class AdminSessions {
  private readonly ended = new Subject<void>();
  /** Emits when sessions have ended. */
  readonly ended$ = this.ended.asObservable();
  readonly #sessions = new Map<string, Session>();
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');
  private readonly follower: StoreFollower<'session'>;
  /** The last write of this process: they are made one after the other. */
  private last: Promise<unknown> = Promise.resolve();
  private sweeping: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: RegistryStore,
    private readonly tokens: AdminTokens,
    private readonly idleTimeout = IDLE_TIMEOUT,
  ) {
    this.follower = new StoreFollower(store, ['session'], 'The sessions of the admin API', (records, areAll) =>
      this.apply(records, areAll),
    );
  }

  /** Resolves once all sessions are known. Called once the queue is open. */
  async open(): Promise<void> {
    await this.follower.start();
    this.sweeping = setInterval(() => void this.sweep(), SWEEP_INTERVAL).unref();
  }

  close(): void {
    clearInterval(this.sweeping);
    this.follower.stop();
    this.logger.end();
  }

  /** Starts a session. Resolves with its id once it is stored. */
  async start(role: TokenRole): Promise<string> {
    const oldest = [...this.#sessions].sort(([, one], [, other]) => one.seenAt - other.seenAt);
    for (const [name, session] of oldest.slice(0, Math.max(0, oldest.length - MAX_SESSIONS + 1))) {
      await this.write(name, undefined, session.revision);
    }
    const id = randomBytes(ID_BYTES).toString('base64url');
    const now = Date.now();
    await this.write(nameOf(id), { tie: tieOf(id, role).toString('base64url'), startedAt: now, usedAt: now }, 0);
    return id;
  }

  /**
   * Returns the role of the first of some ids that has a session.
   *
   * @param isUse whether the request counts as a use of the session
   * @throws {QueueUnavailableError} if this process does not know the session, and cannot ask the store
   */
  async find(ids: string[], isUse: boolean): Promise<TokenRole | undefined> {
    let found = this.findKnown(ids);
    if (!found) {
      await this.follower.catchUp(); // another process may have started it a moment ago
      found = this.findKnown(ids);
    }
    if (found && isUse) this.use(found.name, found.session);
    return found?.role;
  }

  /** Ends the sessions with these ids. Resolves with their roles once that is stored. */
  async end(ids: string[]): Promise<TokenRole[]> {
    await this.follower.catchUp();
    const roles: TokenRole[] = [];
    for (const id of ids) {
      const found = this.findKnown([id]);
      if (!found) continue;
      roles.push(found.role);
      let session: Session | undefined = found.session;
      while (session && !(await this.write(found.name, undefined, session.revision))) {
        await this.follower.reload(); // another process has changed it
        session = this.#sessions.get(found.name);
      }
    }
    return roles;
  }

  private findKnown(ids: string[]): { name: string; session: Session; role: TokenRole } | undefined {
    const now = Date.now();
    for (const id of ids) {
      const name = nameOf(id);
      const session = this.#sessions.get(name);
      const role = session && !this.isOver(session, now) && this.tokens.findTied(id, session.tie);
      if (role) return { name, session, role };
    }
    return undefined;
  }

  private isOver({ startedAt, seenAt }: Session, now: number): boolean {
    return now >= Math.min(seenAt + this.idleTimeout, startedAt + SESSION_TIME);
  }

  private use(name: string, session: Session): void {
    const now = Date.now();
    session.seenAt = now;
    if (now - session.usedAt < Math.min(WRITE_INTERVAL, this.idleTimeout / 2)) return;
    session.usedAt = now; // a failed write is not repeated by the next request, which would fail, too
    const { tie, startedAt, revision } = session;
    this.write(name, { tie, startedAt, usedAt: now }, revision).catch((error: unknown) =>
      this.logger.limited('warn', `The last use of a session cannot be stored: ${errorMessage(error)}`),
    );
  }

  /** Removes the sessions that are over. If that fails, another sweep or another process removes them. */
  private async sweep(): Promise<void> {
    const now = Date.now();
    const over = [...this.#sessions].filter(([, session]) => this.isOver(session, now));
    for (const [name, { revision }] of over) await this.write(name, undefined, revision).catch(() => undefined);
  }

  /** Resolves with whether the session still had the revision, once the change is in use. */
  private write(name: string, session: StoredSession | undefined, expected: number): Promise<boolean> {
    const written = this.last.then(async () => {
      const record = { kind: 'session' as const, name, document: session && JSON.stringify(session) };
      const revision = await this.store.write(record, expected);
      if (revision !== undefined) await this.follower.applied({ ...record, revision });
      return revision !== undefined;
    });
    this.last = written.catch(() => undefined);
    return written;
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
    if (hasEnded) this.ended.next();
    return Promise.resolve();
  }
}

function nameOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

/** Returns undefined for a text that this version has not written. */
function parseSession(text: string): StoredSession | undefined {
  const value = parseJson(text);
  if (!isPlainObject(value)) return undefined;
  const { tie, startedAt, usedAt } = value;
  const isValid = typeof tie === 'string' && Number.isFinite(startedAt) && Number.isFinite(usedAt);
  return isValid ? { tie, startedAt: startedAt as number, usedAt: usedAt as number } : undefined;
}
