import { Body, Controller, type INestApplication, Post } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { AnalyticsService, Track } from 'nestjs-analytics-relay';
import { AnalyticsRecorder, AnalyticsTestingModule } from 'nestjs-analytics-relay/testing';
import request from 'supertest';

import { AppModule } from './app.module.js';
import { OrderRefunded } from './order-refunded.event.js';
import { RefundsService } from './refunds.service.js';

describe('A provider', () => {
  let testing: TestingModule;

  beforeEach(async () => {
    testing = await Test.createTestingModule({
      imports: [AnalyticsTestingModule.forRoot({ trackingPlan: { events: [OrderRefunded], violations: 'throw' } })],
      providers: [RefundsService],
    }).compile();
  });
  afterEach(() => testing.close());

  it('is recorded, and found by the matchers', async () => {
    await testing.get(RefundsService).refund('o-1');
    const recorder = testing.get(AnalyticsRecorder);
    expect(recorder).toHaveTracked('Order Refunded', { orderId: 'o-1', amount: expect.any(Number) });
    expect(recorder).not.toHaveIdentified('u-1');
    expect(() => expect(recorder).toHaveTracked('Order Refund')).toThrow('Nearest of 1 recorded');
  });
});

@Controller('orders')
class OrdersController {
  @Post()
  @Track<OrdersController['place']>('Order Completed', {
    userId: ({ result }) => result.userId,
    properties: ({ result }) => ({ orderId: result.id, revenue: result.total }),
  })
  place(@Body() order: { userId: string; total: number }) {
    return { id: 'o-1', ...order };
  }
}

describe('The application with the generated module', () => {
  let app: INestApplication;

  beforeEach(async () => {
    const builder = Test.createTestingModule({ imports: [AppModule], controllers: [OrdersController] });
    const testing = await AnalyticsTestingModule.override(builder).compile();
    app = testing.createNestApplication();
    await app.init();
  });
  afterEach(() => app.close());

  it('records an order', async () => {
    await request(app.getHttpServer()).post('/orders').send({ userId: 'u1', total: 42 }).expect(201);
    const recorder = AnalyticsRecorder.of(app.get(AnalyticsService));
    const event = await recorder.waitFor('Order Completed');
    expect(event.userId).toBe('u1');
  });
});
