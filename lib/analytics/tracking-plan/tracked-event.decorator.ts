import { metadataStorage } from '../../common/event-class/class-metadata.util.js';
import { declareEvent, type EventDefinition } from '../../common/event-class/event-definition.js';
import { isStandardSchema, type StandardSchemaV1 } from '../../common/event-class/standard-schema.interface.js';
import { OptionsError } from '../../common/options.error.js';
import { isNonEmptyString } from '../../common/value.util.js';

/** Details of an event in the tracking plan, apart from its properties. */
export interface TrackedEventOptions {
  /** Meaning of the event, for readers of the tracking plan. Default: none. */
  description?: string;
}

/** An event class whose properties a Standard Schema declares. */
export type SchemaEventClass<P> = new (properties: P) => P;

/**
 * Declares a track event by name. Decorators of class-validator declare its properties. Record it with
 * `AnalyticsService.trackEvent` or `@Track(TheClass)`.
 *
 * @example
 * ```ts
 * @TrackedEvent('Order Completed')
 * class OrderCompleted {
 *   @IsString() orderId!: string;
 * }
 * ```
 * @throws {OptionsError} when the name is not a non-empty string.
 * @throws {PackageError} when class-validator, an optional package, is not installed.
 */
export function TrackedEvent(name: string, options: TrackedEventOptions = {}): ClassDecorator {
  const definition = toDefinition('@TrackedEvent', name, options);
  metadataStorage(); // tells what is missing where the class is declared, not where its first event is recorded
  return (target) => declareEvent(target, definition);
}

/**
 * Declares a track event whose properties a Standard Schema (zod, valibot, arktype ...) defines. Returns a class, which
 * is accepted wherever a class with `@TrackedEvent` is. The schema must be synchronous.
 *
 * @example
 * ```ts
 * const CouponUsed = defineEvent('Coupon Used', z.object({ code: z.string() }));
 * analytics.trackEvent(new CouponUsed({ code: 'SPRING' }), { userId });
 * ```
 * @throws {OptionsError} when the name is not a non-empty string, or the schema is not a Standard Schema.
 */
export function defineEvent<Output, Input extends object = Output & object>(
  name: string,
  schema: StandardSchemaV1<Input, Output>,
  options: TrackedEventOptions = {},
): SchemaEventClass<Input> {
  const definition = { ...toDefinition('defineEvent', name, options), schema };
  if (!isStandardSchema(schema)) throw new OptionsError('defineEvent', ['schema must be a Standard Schema']);
  const event = class {
    constructor(properties: Input) {
      Object.assign(this, properties);
    }
  };
  declareEvent(event, definition);
  return event as unknown as SchemaEventClass<Input>;
}

function toDefinition(subject: string, name: string, { description }: TrackedEventOptions): EventDefinition {
  if (!isNonEmptyString(name)) throw new OptionsError(subject, ['name must be a non-empty string']);
  return { name, description };
}
