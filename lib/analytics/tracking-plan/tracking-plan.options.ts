import type { EventClass } from './tracking-plan.interface.js';
import { definitionOf, isEventClass } from './tracked-event.decorator.js';

const VIOLATIONS = ['throw', 'drop', 'warn'] as const;

/**
 * What an event gets that breaks its class or schema:
 *
 * - `warn`: it is recorded, and a line is logged.
 * - `drop`: it is not recorded, but counted, and a line is logged. Its callback and the `error` event tell of it.
 * - `throw`: the call throws a `ValidationError`. A decorated method does not: its decorator logs the error.
 *
 * Lines are logged at most once a minute for each event; they name the properties and rules, never values.
 */
export type PlanViolations = (typeof VIOLATIONS)[number];

/** How an instance checks track events at run time. */
export interface TrackingPlanOptions {
  /**
   * Event classes, with `@TrackedEvent` or made by `defineEvent`. A track event with one of their names is checked
   * however it is recorded; one with another name is not checked. `trackEvent` and `@Track(TheClass)` check in any case.
   *
   * @default []
   */
  events?: readonly EventClass[];
  /**
   * What an event gets that breaks its class or schema.
   *
   * @default 'warn'
   */
  violations?: PlanViolations;
}

/** The broken rules of the option `trackingPlan`, as `path rule`. */
export function findPlanFaults(options: unknown): string[] {
  if (options === undefined) return [];
  if (typeof options !== 'object' || options === null) return ['trackingPlan must be an object'];
  const { events = [], violations = 'warn', ...others } = options as TrackingPlanOptions;
  const faults = Object.keys(others).map((name) => `trackingPlan.${name} is not an option`);
  if (!VIOLATIONS.includes(violations)) {
    faults.push(`trackingPlan.violations must be one of ${VIOLATIONS.join(', ')}`);
  }
  if (!Array.isArray(events)) return [...faults, 'trackingPlan.events must be an array of event classes'];
  const names = new Set<string>();
  events.forEach((event: unknown, index) => {
    const path = `trackingPlan.events[${index}]`;
    const name = definitionOf(event)?.name;
    if (!isEventClass(event) || name === undefined) {
      faults.push(`${path} must be a class with @TrackedEvent, or made by defineEvent`);
    } else if (names.has(name)) {
      faults.push(`${path} must not have the name of another event`);
    } else {
      names.add(name);
    }
  });
  return faults;
}
