import type { EventProperties, Message, UserTraits } from '../client/index.js';
import { ArgumentError } from '../common/relay.errors.js';
import { findRecorder, summarise } from './analytics.recorder.js';
import { differences, type Equals, nearestEvent } from './nearest-event.util.js';

/** The part of Jest's or Vitest's matcher context that is used; passed as `this`. */
interface MatcherContext {
  equals: Equals;
  utils: { printExpected(value: unknown): string; printReceived(value: unknown): string };
}

interface Expectation {
  matcher: string;
  type: 'track' | 'identify';
  /** Name of the event, or id of the user. */
  wanted: string;
  nameOf: (event: Message) => string;
  field: 'properties' | 'traits';
  fields: object;
}

/** Matchers for `expect.extend`. The testing entry adds them to a global `expect`, if there is one. */
export const analyticsMatchers = {
  /** Passes if a track event with this name was recorded with at least these properties. */
  toHaveTracked(this: MatcherContext, recorder: unknown, event: string, properties: EventProperties = {}) {
    return judge(this, recorder, {
      matcher: 'toHaveTracked',
      type: 'track',
      wanted: event,
      nameOf: (message) => message.event ?? '',
      field: 'properties',
      fields: properties,
    });
  },

  /** Passes if this user, or anonymous user, was identified with at least these traits. */
  toHaveIdentified(this: MatcherContext, recorder: unknown, userId: string, traits: UserTraits = {}) {
    return judge(this, recorder, {
      matcher: 'toHaveIdentified',
      type: 'identify',
      wanted: userId,
      nameOf: (message) => message.userId ?? message.anonymousId ?? '',
      field: 'traits',
      fields: traits,
    });
  },
};

function judge({ equals, utils }: MatcherContext, received: unknown, expectation: Expectation) {
  const { matcher, type, wanted, nameOf, field, fields } = expectation;
  const recorder = findRecorder(received);
  if (!recorder) {
    throw new ArgumentError(
      `${matcher} takes an AnalyticsRecorder, or an instance that AnalyticsTestingModule provides`,
    );
  }
  const events = recorder.ofType(type);
  const differing = (event: Message) => differences(event[field], fields, equals);
  const found = events.find((event) => nameOf(event) === wanted && differing(event).length === 0);
  const given = Object.keys(fields).length > 0 ? [wanted, fields] : [wanted];
  const args = given.map((arg) => utils.printExpected(arg)).join(', ');
  const hint = `expect(recorder).${found ? 'not.' : ''}${matcher}(${args})`;
  return {
    pass: found !== undefined,
    message: () => [hint, '', ...(found ? unwanted(found) : missing())].join('\n'),
  };

  function unwanted(event: Message): string[] {
    return [`Recorded: ${utils.printReceived(nameOf(event))} with ${field} ${utils.printReceived(event[field])}`];
  }

  function missing(): string[] {
    const nearest = nearestEvent(events, wanted, nameOf, (event) => differing(event).length);
    if (!nearest) return [`No ${type} event was recorded. Recorded: ${summarise(recorder!.events)}`];
    const lines = [`Nearest of ${events.length} recorded: ${utils.printReceived(nameOf(nearest))}`];
    const actual = (nearest[field] ?? {}) as Record<string, unknown>;
    for (const name of differing(nearest)) {
      const expected = utils.printExpected((fields as Record<string, unknown>)[name]);
      lines.push(`  ${field}.${name}: expected ${expected}, recorded ${utils.printReceived(actual[name])}`);
    }
    if (nameOf(nearest) !== wanted) lines.push(`All recorded: ${summarise(recorder!.events)}`);
    return lines;
  }
}

/** The matchers that are added to `expect`. */
export interface AnalyticsMatchers<R> {
  /**
   * Passes if a track event with this name was recorded with at least these properties. `expect` takes an
   * `AnalyticsRecorder`, or an instance that `AnalyticsTestingModule` provides.
   */
  toHaveTracked(event: string, properties?: EventProperties): R;
  /** Passes if this user was identified with at least these traits. */
  toHaveIdentified(userId: string, traits?: UserTraits): R;
}
