import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AnalyticsService } from 'nestjs-analytics-relay';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';

import { AppModule } from './app.module.js';

describe('The application', () => {
  let app: INestApplication;

  beforeEach(async () => {
    // The module that the application imports stays, and records in place of sending.
    const builder = AnalyticsTestingModule.override(Test.createTestingModule({ imports: [AppModule] }));
    app = (await builder.compile()).createNestApplication();
    await app.listen(0, '127.0.0.1');
  });
  afterEach(() => app.close());

  it('records an order that is posted', async () => {
    const response = await fetch(`${await app.getUrl()}/orders`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ userId: 'u-1', total: 42 }),
    });
    expect(response.status).toBe(201);
    const recorder = AnalyticsRecorder.of(app.get(AnalyticsService));
    const { userId } = await recorder.waitFor('Order Placed');
    expect(userId).toBe('u-1');
    expect(recorder).toHaveTracked('Order Placed', { revenue: 42 });
  });
});
