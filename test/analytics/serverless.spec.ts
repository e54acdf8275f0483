import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

import { Controller, Get } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { AnalyticsService, Track } from 'nestjs-analytics-relay';
import { expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { waitFor } from '../support/wait-for.js';
import { CollectingApp } from './support/collecting.app.js';

@Controller()
class Routes {
  constructor(private readonly analytics: AnalyticsService) {}

  @Get('called')
  @Track('Tracked')
  called(): string {
    this.analytics.track({ event: 'Called' });
    return 'answered';
  }
}

const afterwards = useCleanUps();

it('A request that a serverless runtime makes without a socket is answered, and its events are recorded', async () => {
  const collecting = await CollectingApp.start(afterwards, { controllers: [Routes] });
  const server = collecting.app.getHttpAdapter().getInstance() as Express;
  const fields = {
    method: 'GET',
    url: '/called',
    headers: { host: 'shop' },
    connection: { remoteAddress: '192.0.2.1' },
  };
  const request = Object.assign(Readable.from([]), fields) as unknown as Request;
  const response = new ServerResponse(request);
  server(request, response as Response);
  await waitFor(() => response.writableEnded, undefined, 5_000);
  expect(response.statusCode).toBe(200);
  const events = await collecting.eventually(2);
  expect(events.map(({ event, context }) => [event, context!.ip, context!.page])).toEqual(
    ['Called', 'Tracked'].map((event) => [event, '192.0.2.1', { path: '/called' }]),
  );
});
