import { Controller } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { Track } from 'nestjs-analytics-relay';
import { type Observable, of } from 'rxjs';

export interface OrderRequest {
  userId: string;
  total: number;
}

@Controller()
export class OrdersController {
  /** A request and its answer, here as an Observable: recorded once it is complete. */
  @Track<OrdersController['place']>('Order Placed', {
    userId: ({ args: [order] }) => order.userId,
    properties: ({ result }) => ({ orderId: result.id, revenue: result.total }),
  })
  @MessagePattern('orders.place')
  place(@Payload() order: OrderRequest): Observable<{ id: string; total: number }> {
    return of({ id: 'order-1', total: order.total });
  }

  /** A message that nobody waits for. A handler that fails is recorded with what it threw. */
  @Track<OrdersController['refund']>('Refund Failed', {
    on: 'error',
    userId: ({ args: [order] }) => order.userId,
    properties: ({ error }) => ({ reason: (error as Error).message }),
  })
  @EventPattern('orders.refund')
  refund(@Payload() order: OrderRequest): void {
    if (order.total <= 0) throw new RpcException('nothing to refund');
  }
}
