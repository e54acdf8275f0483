import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';

import { OrdersService } from './orders.service.js';

describe('OrdersService', () => {
  let testing: TestingModule;
  let recorder: AnalyticsRecorder;

  beforeEach(async () => {
    // Takes the place of AnalyticsModule.
    testing = await Test.createTestingModule({
      imports: [AnalyticsTestingModule],
      providers: [OrdersService],
    }).compile();
    recorder = testing.get(AnalyticsRecorder);
  });
  afterEach(() => testing.close());

  it('records an order and its customer', async () => {
    await testing.get(OrdersService).place('u-1', 42);
    expect(recorder).toHaveTracked('Order Placed', { revenue: 42, orderId: expect.stringMatching(/^order-/) });
    expect(recorder).toHaveIdentified('u-1', { isCustomer: true });
    expect(recorder).not.toHaveTracked('Order Refunded');
  });

  it('records orders in their sequence', async () => {
    for (const total of [1, 2]) await testing.get(OrdersService).place('u-1', total);
    expect(recorder.named('Order Placed').map(({ properties }) => properties?.revenue as number)).toEqual([1, 2]);
    recorder.clear();
    expect(recorder.events).toHaveLength(0);
  });
});
