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
import { memoryQueue } from 'nestjs-analytics-relay';
import { firstValueFrom, NEVER, type Observable, of } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../../support/clean-ups.js';
import { listen, platforms } from '../../support/platforms.js';
import { Relay } from '../../support/relay.js';

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
    return this.reflector !== undefined && requestOf(context).headers['x-user'] === 'root';
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
    return this.users === undefined || this.users.includes(requestOf(context).headers['x-user'] ?? '');
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

  async function start(guard: Type<CanActivate>, providers: Provider[] = [guard]): Promise<Relay> {
    const relay = await Relay.start({ admin: { guard }, providers, adapter: createAdapter() as never });
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
