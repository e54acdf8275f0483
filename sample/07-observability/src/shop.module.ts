import { Body, Controller, Module, Post } from '@nestjs/common';
import { AnalyticsModule, Track } from 'nestjs-analytics-relay';
import { openTelemetry } from 'nestjs-analytics-relay/opentelemetry';

interface OrderRequest {
  userId: string;
  total: number;
}

@Controller('orders')
class OrdersController {
  @Track<OrdersController['create']>('Order Completed', {
    userId: ({ args: [order] }) => order.userId,
    properties: ({ args: [order] }) => ({ revenue: order.total }),
  })
  @Post()
  create(@Body() order: OrderRequest): OrderRequest {
    return order;
  }
}

/** The first application: records events, and sends them to the relay over HTTP. */
@Module({
  imports: [
    AnalyticsModule.forRootAsync({
      useFactory: () => ({
        writeKey: 'wk_shop',
        host: process.env.RELAY_URL,
        flushInterval: 50,
        telemetry: openTelemetry({ source: 'shop' }),
      }),
    }),
  ],
  controllers: [OrdersController],
})
export class ShopModule {}
