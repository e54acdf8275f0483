import type { IncomingMessage } from 'node:http';

import type { ModuleRef } from '@nestjs/core';
import { auditTime, EMPTY, exhaustMap, first, interval, merge, type Observable } from 'rxjs';

import { RelayError } from '../../client/relay.error.js';
import { LimitedLogger } from '../../common/limited.logger.js';
import { within } from '../../common/promise.util.js';
import type { AddressReader } from '../http/client-address.js';
import type { PlatformPair } from '../http/http.mount.js';
import { siteOf } from '../http/request-site.util.js';
import { RequestError } from '../http/request.error.js';
import { SignInLimit } from '../http/sign-in.limit.js';
import type { AuditEntry, AuditLog } from '../observe/audit.log.js';
import type { DeliveryQueue } from '../queue/delivery.queue.js';
import type { AdminAccess, AdminCaller, AdminOptions } from './admin.options.js';
import { AdminSessions } from './admin.sessions.js';
import { AdminTokens, holderOf, type TokenRole } from './admin.tokens.js';
import { ApplicationGuard } from './application.guard.js';
import { readSessionIds } from './session.cookie.js';
import { MIN_TOKEN_LENGTH, shortTokens } from './token.rules.js';

/** Interval at which the callers of open streams are checked again, in ms. */
const RECHECK_INTERVAL = 60_000;

/** Time between the end of a session and the check of the streams, in ms: many may end at once. */
const RECHECK_PAUSE = 100;

/** Time limit for a guard to admit such a caller again, in ms. */
const RECHECK_TIME = 5_000;

/**
 * Authenticates requests to the admin routes by a configured token, by a session or by the application's guard. All
 * admin routes share one gate, and each of them calls it, because global guards do not reach them.
 */
export class AdminGate {
  readonly #options: AdminOptions; // private, because it may contain tokens
  readonly #tokens: AdminTokens | undefined;
  private readonly sessions: AdminSessions | undefined;
  /** The application's guard, if it decides. */
  readonly guard: ApplicationGuard | undefined;
  private readonly limit = new SignInLimit('admin');
  private readonly logger = new LimitedLogger('WebhookDestinationAdmin');
  private isOpen = false;

  /** @param queue keeps the sessions */
  constructor(
    options: AdminOptions,
    readonly addressOf: AddressReader,
    private readonly audit: AuditLog,
    queue: Pick<DeliveryQueue, 'now' | 'registry'>,
  ) {
    this.#options = options;
    if ('guard' in options) {
      this.guard = new ApplicationGuard(options, this.logger);
      return;
    }
    this.#tokens = new AdminTokens(options);
    this.sessions = new AdminSessions(queue, this.#tokens, options.idleTimeout);
  }

  /** Resolves the guard. A class is looked up in all modules of the application, or created with its dependencies. */
  async prepare(moduleRef: ModuleRef): Promise<void> {
    for (const option of shortTokens(this.#options)) {
      this.logger.warn(
        `${option} has fewer than ${MIN_TOKEN_LENGTH} characters, and could be guessed. Use 32 random bytes; with ` +
          'NODE_ENV=production, the application does not start with a shorter token',
      );
    }
    await this.guard?.prepare(moduleRef);
  }

  /** Admits requests from now on. Called once the queue is open. */
  async open(): Promise<void> {
    await this.sessions?.open();
    this.isOpen = true;
  }

  /** Called before the queue closes. */
  close(): void {
    this.sessions?.close();
    this.logger.end();
  }

  /**
   * Resolves with the caller of a request.
   *
   * @throws {RequestError} 401, 403, 429, or 500 if the guard failed
   */
  authenticate(platform: PlatformPair): Promise<AdminCaller> {
    return this.identify(platform, true);
  }

  /**
   * Emits once the caller of a request is no longer admitted: all are checked each minute, and when a session ends. The
   * guard sees the request as it was.
   */
  refused$(platform: PlatformPair): Observable<unknown> {
    const isRefused = (): Promise<boolean> =>
      within(RECHECK_TIME, this.identify(platform, false), 'the check of a stream').then(
        () => false,
        () => true,
      );
    const ended$ = this.sessions?.ended$.pipe(auditTime(RECHECK_PAUSE)) ?? EMPTY;
    return merge(interval(RECHECK_INTERVAL), ended$).pipe(exhaustMap(isRefused), first(Boolean));
  }

  /** Whether the tools of AI assistants are served. */
  get hasMcp(): boolean {
    return this.#options.mcp === true;
  }

  /** Whether callers sign in with a token. */
  get hasTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /**
   * Signs in with a token. Resolves with the id of a new session; the sessions of the request's cookies end.
   *
   * @throws {RequestError} 401 or 429 for a wrong token, 429 after too many sign-ins, 404 if a guard is configured
   */
  async signIn(
    request: IncomingMessage,
    token: string,
  ): Promise<Pick<AdminCaller, 'access' | 'user'> & { id: string }> {
    if (!this.sessions) throw new RequestError('sign_in_unknown', "sign-in is up to the application's guard");
    this.checkOpen();
    const role = await this.check(request, token);
    const { access, user } = role;
    const address = this.addressOf(request);
    this.limit.count(holderOf(role), address);
    const id = await this.sessions.start(role);
    this.audit.record({ action: 'sign-in', by: 'token', user, address, details: { access } });
    await this.signOut(request);
    return { access, user, id };
  }

  /** Ends the sessions of a request. */
  async signOut(request: IncomingMessage): Promise<void> {
    this.checkOpen();
    const ids = readSessionIds(request);
    if (!this.sessions || ids.length === 0) return;
    const address = this.addressOf(request);
    for (const { user } of await this.sessions.end(ids)) {
      this.audit.record({ action: 'sign-out', by: 'session', user, address });
    }
  }

  /** Records in the audit log that a request was refused for lack of rights; other refusals are not recorded. */
  recordRefusal(request: IncomingMessage, { code, status }: RequestError, about: Partial<AuditEntry> = {}): void {
    if (status !== 403 && code !== 'admin_only') return;
    const address = this.addressOf(request);
    this.audit.refused({ ...about, action: 'request.refused', address, details: { code, ...about.details } });
  }

  /** @param isUse whether the request counts as a use of its session */
  private async identify(platform: PlatformPair, isUse: boolean): Promise<AdminCaller> {
    this.checkOpen();
    if (this.guard) return this.guard.identify(platform);
    const request = platform[0] as IncomingMessage & { raw?: IncomingMessage };
    return this.identifyByToken(request.raw ?? request, isUse);
  }

  private async identifyByToken(request: IncomingMessage, isUse: boolean): Promise<AdminCaller> {
    const [, token] = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token !== undefined) return toCaller(await this.check(request, token), 'token');
    const ids = readSessionIds(request);
    if (ids.length > 0 && siteOf(request) !== 'own') {
      const rule =
        'a session counts only in requests of pages of the same origin, which Sec-Fetch-Site or Origin shows';
      throw new RequestError('cross_site', rule, 'Cookie');
    }
    const isPoll = request.headers['x-relay-poll'] !== undefined; // which the dashboard sends without its user
    const role = ids.length > 0 ? await this.sessions!.find(ids, isUse && !isPoll) : undefined;
    if (role) return toCaller(role, 'session');
    const rule = 'the request needs the admin token as a Bearer token, or the cookie of a session that has not ended';
    throw new RequestError('admin_token_wrong', rule, 'Authorization');
  }

  private async check(request: IncomingMessage, token: string): Promise<TokenRole> {
    const role = this.#tokens!.find(token);
    if (role) return role;
    const address = this.addressOf(request);
    return this.limit.refuse(address).catch((error: RequestError) => {
      this.audit.refused({ action: 'sign-in.refused', address, details: { code: error.code } });
      throw error;
    });
  }

  private checkOpen(): void {
    if (!this.isOpen) throw new RelayError('starting', 'the application is still starting');
  }
}

/** @throws {RequestError} 403 if the caller may only read, and must do more */
export function checkAccess(caller: AdminCaller, needed: AdminAccess): void {
  if (needed === 'write' && caller.access !== 'write') throw new RequestError('read_only', 'the caller may only read');
}

function toCaller({ access, user }: TokenRole, by: AdminCaller['by']): AdminCaller {
  return { access, by, user };
}
