import { definitionOf, type EventClass, isEventClass } from '../../common/event-class/event-definition.js';
import { Must } from '../../common/options.rules.js';

const VIOLATIONS = ['throw', 'drop', 'warn'] as const;

/**
 * Policy for an event that violates its class or schema:
 *
 * - `warn`: the event is recorded, and a line is logged.
 * - `drop`: the event is counted but not recorded, and a line is logged. Its callback and the `error` event receive the
 *   error.
 * - `throw`: the call throws a `ValidationError`. A decorated method does not throw: its decorator logs the error.
 *
 * At most one line a minute is logged for each event. It names the properties and rules, never values.
 */
export type PlanViolations = (typeof VIOLATIONS)[number];

/** Options for checking track events at run time, with rules and defaults. */
export class PlanOptions {
  /**
   * Event classes, with `@TrackedEvent` or made by `defineEvent`. A track event with one of their names is checked,
   * however it is recorded; events with other names are not. `trackEvent` and `@Track(TheClass)` always check.
   *
   * @default []
   */
  @Must('be an array of event classes', Array.isArray)
  events: readonly EventClass[] = [];

  /**
   * Policy for an event that violates its class or schema: `'warn'` records it and logs a line; `'drop'` logs a line
   * and fails the event with an error; `'throw'` makes the call throw a `ValidationError`.
   *
   * @default 'warn'
   */
  @Must(`be one of ${VIOLATIONS.join(', ')}`, (value) => VIOLATIONS.includes(value as PlanViolations))
  violations: PlanViolations = 'warn';
}

/** Options for checking track events at run time. */
export type TrackingPlanOptions = Partial<PlanOptions>;

/** Returns the rules that the event classes break, each as `path rule`. */
export function findEventFaults(events: unknown): string[] {
  if (!Array.isArray(events)) return [];
  const names = new Set<string>();
  return events.flatMap((event: unknown, index) => {
    const path = `trackingPlan.events[${index}]`;
    const name = definitionOf(event)?.name;
    if (!isEventClass(event) || name === undefined) {
      return [`${path} must be a class with @TrackedEvent, or made by defineEvent`];
    }
    if (names.has(name)) return [`${path} must not have the name of another event`];
    names.add(name);
    return [];
  });
}
