import { Test, type TestingModule } from '@nestjs/testing';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';

import { OrdersService } from './orders.service';

describe('OrdersService', () => {
  let testing: TestingModule;

  beforeEach(async () => {
    testing = await Test.createTestingModule({
      imports: [AnalyticsTestingModule],
      providers: [OrdersService],
    }).compile();
  });
  afterEach(() => testing.close());

  it('records an order', async () => {
    await testing.get(OrdersService).checkout({ userId: 'u-1', total: 42 });
    const recorder = testing.get(AnalyticsRecorder);
    expect(recorder).toHaveTracked('Order Completed', { orderId: 'o-1', revenue: expect.any(Number) });
    expect(recorder).not.toHaveIdentified('u-1');
    expect(() => expect(recorder).toHaveTracked('Order Complete')).toThrow('Nearest of 1 recorded');
  });
});
