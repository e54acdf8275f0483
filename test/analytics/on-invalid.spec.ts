import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';

import { Controller, Get, Res } from '@nestjs/common';
import { AnalyticsContext, AnalyticsScope, AnalyticsService, ValidationError } from 'nestjs-analytics-relay';
import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { onExpress } from '../support/platforms.js';
import { waitFor } from '../support/wait-for.js';
import { CollectingApp, type CollectingAppOptions } from './support/collecting.app.js';

const NOBODY = 'at least one of userId and anonymousId must be a non-empty string';

@Controller()
class Routes {
  waiting = false;

  constructor(private readonly analytics: AnalyticsService) {}

  @Get('throws')
  throws(): string {
    const errorOf = (record: () => void) => {
      try {
        record();
        return 'recorded';
      } catch (error) {
        return (error as ValidationError).code;
      }
    };
    const { analytics } = this;
    return [
      errorOf(() => analytics.track({ event: 'Nobody' })),
      errorOf(() => analytics.alias({ previousId: 'a1' })),
      errorOf(() => analytics.track({ userId: 'u1', event: 5 as never, properties: {} as never })),
    ].join();
  }

  @Get('leaving')
  async leaving(@Res() response: ServerResponse & { raw?: ServerResponse }): Promise<void> {
    const raw = response.raw ?? response;
    await new Promise<void>((resolve) => {
      raw.on('close', () => {
        this.analytics.track({ event: 'Left' });
        resolve();
      });
      this.waiting = true;
    });
  }

  @AnalyticsScope()
  job(): void {
    this.analytics.identify({});
  }
}

describe.each(onExpress)('On $platform, a message that breaks a rule', ({ createAdapter }) => {
  const afterwards = useCleanUps();

  async function start(options: CollectingAppOptions['options'] = {}) {
    const collecting = await CollectingApp.start(afterwards, {
      adapter: createAdapter(),
      controllers: [Routes],
      options,
    });
    const answer = async (path: string) => (await fetch(`${collecting.host}/${path}`)).text();
    return { ...collecting, answer, analytics: collecting.app.get(AnalyticsService), log: collecting.log };
  }

  it('throws in a request, also if no user is known', async () => {
    const { answer, log } = await start({ anonymous: false });
    expect(await answer('throws')).toBe('no_user_anon_id,user_id_not_string,event_not_string');
    expect(log.matching(/was not recorded/)).toEqual([]);
  });

  it("is logged everywhere with onInvalid: 'log'", async () => {
    const { answer, log, analytics } = await start({ anonymous: false, onInvalid: 'log' });
    expect(await answer('throws')).toBe('recorded,recorded,recorded');
    analytics.track({ userId: 'u1', event: 5 as never, properties: {} as never });
    analytics.trackEvent({});
    analytics.track(null as never);
    expect(log.matching(/was not recorded/)).toEqual([
      `warn GET /throws was not recorded: ${NOBODY}`,
      'warn GET /throws was not recorded: userId must be a non-empty string',
      'warn GET /throws was not recorded: event must be a non-empty string',
      'warn track was not recorded: event must be a non-empty string',
      'warn track was not recorded: event must be an instance of a class with @TrackedEvent, or made by defineEvent',
      'warn track was not recorded: message must be an object',
    ]);
  });

  it('outside a request throws, but is logged if no user is known, and the callback gets the error', async () => {
    const { app, analytics, log } = await start();
    expect(() => analytics.track({ userId: 'u1', event: 5 as never, properties: {} as never })).toThrow(
      'event must be a non-empty string',
    );
    const error = await new Promise((resolve) => analytics.track({ event: 'Nobody' }, resolve));
    expect(error).toBeInstanceOf(ValidationError);
    await new Promise<void>((resolve) =>
      setTimeout(() => resolve(AnalyticsContext.run({ groupId: 'g1' }, () => analytics.page({}))), 1),
    );
    app.get(Routes).job();
    analytics.alias({ previousId: 'a1' });
    expect(log.matching(/was not recorded/)).toEqual([
      `warn track was not recorded: ${NOBODY}`,
      `warn page was not recorded: ${NOBODY}`,
      `warn Routes.job was not recorded: ${NOBODY}`,
      'warn alias was not recorded: userId must be a non-empty string',
    ]);
  });

  it('in a listener of a request that the client has aborted is logged, and the process goes on', async () => {
    const { app, host, log } = await start();
    const socket = connect(Number(new URL(host).port), '127.0.0.1');
    socket.write('GET /leaving HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitFor(() => app.get(Routes).waiting);
    socket.destroy();
    await waitFor(() => log.matching(/was not recorded/).length > 0);
    expect(log.matching(/was not recorded/)).toEqual([`warn track was not recorded: ${NOBODY}`]);
  });
});
