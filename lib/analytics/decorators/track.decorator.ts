import type { TrackParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type { TrackOptions } from './record-options.interface.js';

/**
 * Records a track event at the end of each call of a controller's or provider's method.
 * It never changes what the method returns or throws; a fault in a mapper is logged.
 *
 * @example
 * ```ts
 * @Track('Order Completed', { userId: ({ args }) => args[0].userId, properties: ({ result }) => ({ total: result.total }) })
 * checkout(order: Order) {}
 * ```
 */
export function Track(event: string, options: TrackOptions = {}): MethodDecorator {
  return recordCall(options, (analytics, fields) => analytics.track({ ...fields, event } as TrackParams));
}
