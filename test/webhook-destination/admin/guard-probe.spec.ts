import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type Provider,
  Scope,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type AdminGuardOptions, memoryQueue } from 'nestjs-analytics-relay';
import { firstValueFrom, NEVER, type Observable, of } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { listen, platforms } from '../../support/platforms.js';
import { Relay } from '../../support/relay.js';
import { startApi } from './api/support.js';

interface AnyRequest {
  user?: { roles: string[] };
  headers: Record<string, string | undefined>;
  cookies: Record<string, string>;
  session: Record<string, unknown>;
  get?(name: string): string | undefined;
  ip: string;
  socket: { remoteAddress?: string };
  url: string;
  raw?: unknown;
}

const ROLES = 'roles';
const methodOf = (context: ExecutionContext) => context.switchToHttp().getRequest<{ method: string }>().method;
const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<AnyRequest>();

/** As in Nest's documentation: what asks for no role is open to everybody. */
@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const required = this.reflector.getAllAndOverride<string[] | undefined>(ROLES, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!required) return true;
    return required.some((role) => requestOf(context).user!.roles.includes(role));
  }
}

/** Whom a header names; the guards that let in whom they know leave the user on the request, as they must. */
function knownUser(context: ExecutionContext): string | undefined {
  const request = requestOf(context) as { user?: unknown } & AnyRequest;
  request.user = request.headers['x-user'] as never;
  return request.headers['x-user'];
}

/** Lets in everybody, in the ways that a guard may. */
@Injectable()
class OpenLaterGuard implements CanActivate {
  canActivate(): Observable<boolean> {
    return of(true);
  }
}
class NoCookieGuard implements CanActivate {
  canActivate(context: ExecutionContext): Promise<boolean> {
    const { cookies, session } = requestOf(context);
    return Promise.resolve(cookies.banned === undefined && session.banned === undefined);
  }
}
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    return (request.get ? request.get('X-Banned') : request.headers['x-banned']) === undefined;
  }
}
class NetworkGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { ip, socket } = requestOf(context);
    return !ip.startsWith('6.6.6') && !socket.remoteAddress!.startsWith('6.6.6');
  }
}
class BotGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = requestOf(context);
    return (
      !headers['user-agent']!.includes('bot') && headers.accept!.length < 1_000 && headers['content-length'] !== '0'
    );
  }
}
class RouteGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context) as AnyRequest & {
      route?: { path: string };
      routeOptions?: { config: object; url: string };
    };
    const path = (request.route?.path ?? request.routeOptions?.url)!;
    return request.url === path && path.endsWith('/delete') && !('secured' in (request.routeOptions?.config ?? {}));
  }
}

/** Guards a part of the routes. */
class ChangesOnlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return methodOf(context) === 'GET' || knownUser(context) !== undefined;
  }
}
class DeletionOnlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return requestOf(context).url !== '/v1/delete' || knownUser(context) !== undefined;
  }
}
class AllButStreamsGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return requestOf(context).url.endsWith('/events') || knownUser(context) !== undefined;
  }
}
class AllButOverviewGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return requestOf(context).url.endsWith('/overview') || knownUser(context) !== undefined;
  }
}
class ApiOnlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return requestOf(context).url.endsWith('/relay/') || knownUser(context) !== undefined;
  }
}
class AllButUsersGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return methodOf(context) === 'DELETE' || knownUser(context) !== undefined;
  }
}
class ReadsOnlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { url } = requestOf(context);
    return url.includes('/relay/api/destinations/') || knownUser(context) !== undefined;
  }
}

/** Refuses strangers, in the ways that a guard may. */
class TypeErrorGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return requestOf(context).user!.roles.includes('admin');
  }
}
@Injectable({ scope: Scope.REQUEST })
class ScopedGuard implements CanActivate {
  constructor(readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    return this.reflector !== undefined && knownUser(context) === 'root';
  }
}
/** As those that send a stranger to a page where to sign in: they answer, and never decide. */
class RedirectingGuard implements CanActivate {
  canActivate(context: ExecutionContext): Promise<boolean> {
    const response = context.switchToHttp().getResponse<{ redirect(url: string): void }>();
    response.redirect('https://login.example/');
    return new Promise(() => undefined);
  }
}
/** Relies on what its provider has only once the application is initialised. */
@Injectable()
class LateGuard implements CanActivate {
  private users: string[] | undefined;

  onModuleInit(): void {
    this.users = ['root'];
  }

  canActivate(context: ExecutionContext): boolean {
    return this.users === undefined || this.users.includes(knownUser(context) ?? '');
  }
}
class SilentGuard implements CanActivate {
  canActivate(): Promise<boolean> {
    return firstValueFrom(NEVER);
  }
}

describe.each(platforms)('At start on $platform, the guard of the admin routes', ({ createAdapter }) => {
  const cleanUp = useCleanUps();
  afterEach(() => void vi.useRealTimers());

  async function start(
    guard: Type<CanActivate>,
    providers: Provider[] = [guard],
    access?: AdminGuardOptions['access'],
  ): Promise<Relay> {
    const admin = { guard, ...(access && { access }) };
    const relay = await Relay.start({ admin, providers, adapter: createAdapter() as never });
    cleanUp(() => relay.stop());
    return relay;
  }

  it.each([RolesGuard, OpenLaterGuard, NoCookieGuard, HeaderGuard, NetworkGuard, BotGuard, RouteGuard])(
    'stops the application when it lets a stranger in: %s',
    async (guard) => {
      const queue = memoryQueue()();
      const closed = vi.spyOn(queue, 'close');
      const started = Relay.start({
        admin: { guard },
        providers: [guard],
        adapter: createAdapter() as never,
        queue: () => queue,
      });
      await expect(started).rejects.toThrow('admin.guard must refuse an anonymous request');
      await expect(started).rejects.toMatchObject({ name: 'OptionsError' });
      expect(closed).toHaveBeenCalled();
    },
  );

  it.each<[string, Type<CanActivate>]>([
    ['GET /relay/api/session', ChangesOnlyGuard],
    ['GET /relay/api/session', DeletionOnlyGuard],
    ['GET /relay/api/overview', AllButOverviewGuard],
    ['GET /relay/', ApiOnlyGuard],
    ['GET /relay/api/events', AllButStreamsGuard],
    ['GET /relay/api/destinations/any', ReadsOnlyGuard],
    ['DELETE /relay/api/users/any', AllButUsersGuard],
  ])('stops the application when it lets a stranger in to %s alone: %s', async (route, guard) => {
    const rule = `admin.guard must refuse an anonymous request, but admitted one (${route})`;
    await expect(start(guard)).rejects.toThrow(rule);
  });

  it('stops the application when it lets a stranger in to a deletion below the global prefix', async () => {
    const guard = {
      canActivate: (context: ExecutionContext) => requestOf(context).url === '/api/v1/delete',
    };
    const started = startApi(cleanUp, createAdapter(), {
      options: { admin: { guard } },
      prepare: (app) => void app.setGlobalPrefix('api'),
    });
    await expect(started).rejects.toThrow('admitted one (POST /api/v1/delete)');
  });

  describe('that admits what has no user', () => {
    /** Passes the check at the start, as an anonymous request has no such header. */
    class KeyGuard implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        return requestOf(context).headers['x-key'] === 'right';
      }
    }
    const headers = { 'X-Key': 'right', Cookie: 'any=1', 'Content-Type': 'application/json' };

    it('lets nobody in, and says in the log what to do', async () => {
      const { app, log, service } = await start(KeyGuard);
      const audit: unknown[] = [];
      service.audit$.subscribe((entry) => audit.push(entry));
      const base = await listen(app);
      for (const [method, path] of [
        ['GET', 'relay/api/deliveries'],
        ['GET', 'relay/api/events'],
        ['GET', 'relay/'],
        ['POST', 'v1/delete'],
        ['DELETE', 'relay/api/users/u1'],
      ]) {
        const body = method === 'GET' ? undefined : '{"userId":"u1"}';
        const response = await fetch(`${base}/${path}`, { method, headers, body });
        expect([path, response.status]).toEqual([path, 403]);
        expect(await response.json()).toEqual({ code: 'admin_only', message: 'only an administrator may do this' });
      }
      expect(log.matching(/^warn admin\.guard admitted a request that has no user/)).toHaveLength(1);
      expect(audit).toHaveLength(5);
      expect(audit[0]).toMatchObject({
        action: 'request.refused',
        address: '127.0.0.1',
        details: { code: 'admin_only', route: 'GET deliveries' },
      });
    });

    it('lets in whom `access` lets in', async () => {
      const base = await listen((await start(KeyGuard, [KeyGuard], () => 'read')).app);
      expect((await fetch(`${base}/relay/api/deliveries`, { headers })).status).toBe(200);
      const change = { method: 'POST', headers, body: '{"userId":"u1"}' };
      expect((await fetch(`${base}/v1/delete`, change)).status).toBe(403);
    });
  });

  it('may read roles from metadata where it lets in nobody without', async () => {
    class ClosedRolesGuard extends RolesGuard {
      override canActivate(context: ExecutionContext): boolean {
        return requestOf(context).user !== undefined && super.canActivate(context);
      }
    }
    SetMetadata(ROLES, ['admin'])(ClosedRolesGuard);
    await start(ClosedRolesGuard, [
      { provide: ClosedRolesGuard, useFactory: () => new ClosedRolesGuard(new Reflector()) },
    ]);
  });

  it.each([TypeErrorGuard, RedirectingGuard])('refuses a stranger in a way of its own: %s', async (guard) => {
    await start(guard);
  });

  it.each([ScopedGuard, LateGuard])('lets in whom it knows, then: %s', async (guard) => {
    const base = await listen((await start(guard)).app);
    const ask = (user: string) =>
      fetch(`${base}/v1/delete`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-User': user },
        body: '{"userId":"u1"}',
      });
    expect([(await ask('guest')).status, (await ask('root')).status]).toEqual([403, 200]);
  });

  it('stops the application when it does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    const started = Relay.start({ admin: { guard: SilentGuard }, adapter: createAdapter() as never });
    const refused = expect(started).rejects.toThrow('admin.guard must answer an anonymous request within 5 s');
    let isSettled = false;
    void refused.finally(() => (isSettled = true));
    while (!isSettled) await vi.advanceTimersByTimeAsync(500);
    await refused;
  });
});
