import { type TrackParams, ValidationError } from '../../client/index.js';
import { isPlainObject } from '../../client/message/message.rules.js';
import { definitionOf, type EventClass } from '../../common/event-class/event-definition.js';
import type { LineLogger } from '../../common/line.logger.js';
import { findPlanFaults, type PlanFault } from './event-check.util.js';
import type { PlanOptions } from './tracking-plan.options.js';

/** Minimum interval between two log lines of one event, in ms. */
const LOG_INTERVAL = 60_000;

interface Tally {
  count: number;
  logged: number;
  loggedAt: number;
  line: string;
}

/** Checks track events against the tracking plan, and applies its policy to violations. */
export class PlanEnforcer {
  private readonly planned: Map<string, EventClass>;
  /** By event name; bounded by the number of event classes. */
  private readonly tallies = new Map<string, Tally>();
  private readonly violations: PlanOptions['violations'];

  constructor(
    { events, violations }: PlanOptions,
    private readonly logger: LineLogger,
  ) {
    this.planned = new Map(events.map((type) => [definitionOf(type)!.name, type]));
    this.violations = violations;
  }

  /** Whether an error is a violation. Violations are logged here. */
  static isViolation(error: unknown): boolean {
    return (error as Partial<ValidationError> | undefined)?.code === 'tracking_plan_violation';
  }

  /**
   * Checks an event against the class that its properties are an instance of, or else the planned class of its name.
   *
   * @returns The reason why the event is not recorded; undefined if it is.
   * @throws {ValidationError} if the policy is `throw`.
   */
  check(message: Partial<TrackParams> | undefined): ValidationError | undefined {
    const properties = message?.properties ?? {};
    if (!isPlainObject(properties)) return undefined; // the message's own rules report this
    const own = properties.constructor;
    const type = definitionOf(own) ? (own as EventClass) : this.planned.get(message?.event as string);
    if (!type) return undefined;
    const faults = findPlanFaults(type, properties);
    if (faults.length === 0) return undefined;
    const { name } = definitionOf(type)!;
    const error = toError(name, faults);
    if (this.violations === 'throw') throw error;
    this.reportViolation(name, error.message);
    return this.violations === 'drop' ? error : undefined;
  }

  /** Logs the violations that have not been logged yet. */
  report(): void {
    for (const tally of this.tallies.values()) if (tally.count > tally.logged) this.log(tally);
  }

  private reportViolation(name: string, line: string): void {
    const tally = this.tallies.get(name) ?? { count: 0, logged: 0, loggedAt: -Infinity, line };
    this.tallies.set(name, tally);
    tally.count++;
    tally.line = line;
    if (performance.now() - tally.loggedAt >= LOG_INTERVAL) this.log(tally);
  }

  private log(tally: Tally): void {
    const outcome = this.violations === 'drop' ? 'dropped' : 'recorded anyway';
    this.logger.warn(`${tally.line}; ${outcome}, ${tally.count} so far`);
    tally.logged = tally.count;
    tally.loggedAt = performance.now();
  }
}

function toError(name: string, faults: PlanFault[]): ValidationError {
  const rules = faults.map(({ property, rule }) => `${property} (${rule})`).join(', ');
  const message = `${JSON.stringify(name)} breaks the tracking plan: ${rules}`;
  return new ValidationError({ field: faults[0]!.property, code: 'tracking_plan_violation', message });
}
