import { OptionsError } from '../../common/options.error.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { isStandardSchema, type StandardSchemaV1 } from './standard-schema.interface.js';
import type { EventClass } from './tracking-plan.interface.js';

/** Facts of an event in the tracking plan beside its properties. */
export interface TrackedEventOptions {
  /** What the event means, for readers of the tracking plan. Default: none. */
  description?: string;
}

/** What a class with `@TrackedEvent` declares. */
export interface TrackedEventDefinition extends TrackedEventOptions {
  name: string;
  /** Of a class made by {@link defineEvent}. */
  schema?: StandardSchemaV1;
}

/** A class of events whose properties a Standard Schema declares. */
export type SchemaEventClass<P> = new (properties: P) => P;

// On the class itself: both builds of the package, and several copies of it, find it there.
const DEFINITION = Symbol.for('nestjs-analytics-relay:tracked-event');

/**
 * Declares a track event: its name here, its properties with the decorators of class-validator.
 * Record it with `AnalyticsService.trackEvent` or `@Track(TheClass)`.
 *
 * @example
 * ```ts
 * @TrackedEvent('Order Completed')
 * class OrderCompleted {
 *   @IsString() orderId!: string;
 * }
 * ```
 * @throws {OptionsError} when the name is not a non-empty string.
 */
export function TrackedEvent(name: string, options: TrackedEventOptions = {}): ClassDecorator {
  const definition = toDefinition('@TrackedEvent', name, options);
  return (target) => define(target, definition);
}

/**
 * Declares a track event whose properties a Standard Schema (zod, valibot, arktype ...) defines.
 * The result is a class, accepted wherever one with `@TrackedEvent` is. The schema must be synchronous.
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
  define(event, definition);
  return event as unknown as SchemaEventClass<Input>;
}

/** What a class declares as an event, itself or by the class that it extends; undefined for other values. */
export function definitionOf(type: unknown): TrackedEventDefinition | undefined {
  return typeof type === 'function' ? (type as { [DEFINITION]?: TrackedEventDefinition })[DEFINITION] : undefined;
}

/** Whether a value is a class that declares an event itself. */
export function isEventClass(value: unknown): value is EventClass {
  return typeof value === 'function' && Object.prototype.hasOwnProperty.call(value, DEFINITION);
}

function toDefinition(subject: string, name: string, { description }: TrackedEventOptions): TrackedEventDefinition {
  if (!isNonEmptyString(name)) throw new OptionsError(subject, ['name must be a non-empty string']);
  return { name, description };
}

function define(target: object, definition: TrackedEventDefinition): void {
  Object.defineProperty(target, DEFINITION, { value: definition });
}
