import { OptionsError } from '../../common/options.error.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { metadataStorage } from './class-metadata.util.js';
import { isStandardSchema, type StandardSchemaV1 } from './standard-schema.interface.js';
import type { EventClass } from './tracking-plan.interface.js';

/** Details of an event in the tracking plan, apart from its properties. */
export interface TrackedEventOptions {
  /** Meaning of the event, for readers of the tracking plan. Default: none. */
  description?: string;
}

/** The event that an event class declares. */
export interface TrackedEventDefinition extends TrackedEventOptions {
  name: string;
  /** Schema of the properties, for a class made by {@link defineEvent}. */
  schema?: StandardSchemaV1;
}

/** An event class whose properties a Standard Schema declares. */
export type SchemaEventClass<P> = new (properties: P) => P;

// Stored on the class itself, so that both builds and all copies of the package find it.
const DEFINITION = Symbol.for('nestjs-analytics-relay:tracked-event');

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
  return (target) => define(target, definition);
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
  define(event, definition);
  return event as unknown as SchemaEventClass<Input>;
}

/** Returns the event that a class or its base class declares; undefined for other values. */
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
