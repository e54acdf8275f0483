import type { CommonParams, EventProperties } from '../../client/index.js';
import type { EventClass } from '../../common/event-class/event-definition.js';
import type { StandardInput, StandardSchemaV1 } from '../../common/event-class/standard-schema.interface.js';
import type { AmbientParams } from '../context/ambient-params.interface.js';

/**
 * The track events of the application, by name. Augment this interface to check event names and property types at
 * compile time. The type of an event is that of its properties, or a class or Standard Schema that declares them.
 *
 * @example
 * ```ts
 * declare module 'nestjs-analytics-relay' {
 *   interface TrackingPlan {
 *     'Order Completed': OrderCompleted;
 *     'Coupon Used': { code: string };
 *   }
 * }
 * ```
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- filled by the application
export interface TrackingPlan {}

/** Names of the planned events; any name if there is no plan. */
export type EventName = keyof TrackingPlan extends never ? string : Extract<keyof TrackingPlan, string>;

/** The properties that a Standard Schema, a class or a type declares, without methods. */
export type PropertiesOf<T> =
  T extends StandardSchemaV1<infer Input, infer Output>
    ? StandardInput<Input, Output>
    : T extends EventClass<infer Instance>
      ? Data<Instance>
      : Data<T>;

type Data<T> = { [K in keyof T as T[K] extends (...args: never) => unknown ? never : K]: T[K] };

/** The properties of a planned event; any properties if there is no plan. */
export type PlannedProperties<E extends EventName> = E extends keyof TrackingPlan
  ? PropertiesOf<TrackingPlan[E]>
  : EventProperties | undefined;

/** The field `properties`, which is optional if no property is required. */
export type PropertiesField<P, Field = P> = undefined extends P
  ? { properties?: Field | undefined }
  : object extends P
    ? { properties?: Field | undefined }
    : { properties: Field };

/** Fields of a track message of this event. */
export type PlannedTrackParams<E extends EventName> = TrackEventFields & { event: E } & PropertiesField<
    PlannedProperties<E>
  >;

/** Fields of a track message other than its event and properties. */
export type TrackEventFields = AmbientParams<CommonParams>;
