import { takeObject } from '../../client/message/message-json.util.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { toInstance } from '../../common/event-class/class-metadata.util.js';
import { definitionOf, type EventClass } from '../../common/event-class/event-definition.js';
import { OptionsError } from '../../common/options.error.js';
import type {
  EventName,
  PlannedProperties,
  PropertiesField,
  PropertiesOf,
} from '../tracking-plan/tracking-plan.interface.js';
import { recordCall } from './record.decorator.js';
import type { RecordedMethod, MappedField, RecordOptions } from './record-options.interface.js';

/** Options of `@Track` for an event with these properties. */
export type PlannedTrackOptions<M extends RecordedMethod, P> = RecordOptions<M> & PropertiesField<P, MappedField<P, M>>;

/** Arguments of `@Track` for each event of the plan. The options are optional if no property is required. */
export type TrackArguments<M extends RecordedMethod> = {
  [E in EventName]: object extends PlannedTrackOptions<M, PlannedProperties<E>>
    ? [event: E, options?: PlannedTrackOptions<M, PlannedProperties<E>>]
    : [event: E, options: PlannedTrackOptions<M, PlannedProperties<E>>];
}[EventName];

/**
 * Records a track event at the end of each call of a controller's or provider's method. It never changes what the
 * method returns or throws; a fault in a mapper is logged. Pass the method's type as the type argument to type the
 * arguments and the result in mappers.
 *
 * The event is given by its name or its class: a class with `@TrackedEvent`, or one made by `defineEvent`.
 *
 * @example
 * ```ts
 * @Track<OrdersService['checkout']>('Order Completed', {
 *   userId: ({ args: [request] }) => request.userId,
 *   properties: ({ result }) => ({ orderId: result.id, revenue: result.price }),
 * })
 * checkout(request: OrderRequest): Promise<Order> {}
 * ```
 * @throws {OptionsError} if the class declares no event.
 */
export function Track<M extends RecordedMethod = RecordedMethod>(...args: TrackArguments<M>): MethodDecorator;
export function Track<M extends RecordedMethod = RecordedMethod, Event extends object = object>(
  event: EventClass<Event>,
  // Inferred from the class alone, so a compile error points at the options.
  options: PlannedTrackOptions<M, PropertiesOf<Event & {}>>,
): MethodDecorator;
export function Track(event: string | EventClass, options: RecordOptions = {}): MethodDecorator {
  if (typeof event !== 'function') {
    return recordCall(options, (analytics, fields) => analytics.track({ ...fields, event }));
  }
  const definition = definitionOf(event);
  if (!definition) throw new OptionsError('@Track', ['event must be a name, or a class with @TrackedEvent']);
  const { name } = definition;
  return recordCall(options, (analytics, fields) => {
    const given = (fields as { properties?: unknown }).properties ?? {};
    const isOther = isPlainObject(given) && !(given instanceof event);
    // Properties that are an instance of an event class are checked against its rules.
    const properties = isOther ? toInstance(event, takeObject('properties', given)) : given;
    analytics.track({ ...fields, event: name, properties });
  });
}
