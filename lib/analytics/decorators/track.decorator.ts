import type { TrackParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type { AnyMethod, TrackOptions } from './record-options.interface.js';

/**
 * Records a track event at the end of each call of a controller's or provider's method.
 * It never changes what the method returns or throws; a fault in a mapper is logged.
 * With the method's type as type argument, the mappers know its arguments and its result.
 *
 * @example
 * ```ts
 * @Track<OrdersService['checkout']>('Order Completed', {
 *   userId: ({ args: [request] }) => request.userId,
 *   properties: ({ result }) => ({ orderId: result.id, revenue: result.price }),
 * })
 * checkout(request: OrderRequest): Promise<Order> {}
 * ```
 */
export function Track<M extends AnyMethod = AnyMethod>(event: string, options: TrackOptions<M> = {}): MethodDecorator {
  return recordCall({ ...options, event }, (analytics, message) => analytics.track(message as TrackParams));
}
