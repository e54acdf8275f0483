import type { EventProperties, Message, UserTraits } from '../client/index.js';
import { type AnalyticsRecorder, findRecorder, summarise } from './analytics.recorder.js';
import { differences, type Equals, nearestEvent } from './nearest.event.js';

/** What a matcher needs of Jest (or Vitest), which passes it as `this`. */
interface MatcherContext {
  equals: Equals;
  utils: { printExpected(value: unknown): string; printReceived(value: unknown): string };
}

interface MatcherResult {
  pass: boolean;
  message: () => string;
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

/** Matchers for `expect.extend`; where there is a global `expect`, the testing entry has added them to it. */
export const analyticsMatchers = {
  /** Whether a track event of this name was recorded, with at least these properties where any are given. */
  toHaveTracked(this: MatcherContext, recorder: unknown, event: string, properties: EventProperties = {}) {
    const nameOf = (message: Message) => message.event ?? '';
    return judge(this, recorder, {
      ...{ matcher: 'toHaveTracked', type: 'track', wanted: event, nameOf },
      ...{ field: 'properties', fields: properties },
    });
  },

  /** Whether this user, or anonymous user, was identified, with at least these traits where any are given. */
  toHaveIdentified(this: MatcherContext, recorder: unknown, userId: string, traits: UserTraits = {}) {
    const nameOf = (message: Message) => message.userId ?? message.anonymousId ?? '';
    return judge(this, recorder, {
      ...{ matcher: 'toHaveIdentified', type: 'identify', wanted: userId, nameOf },
      ...{ field: 'traits', fields: traits },
    });
  },
};

function judge({ equals, utils }: MatcherContext, received: unknown, expectation: Expectation): MatcherResult {
  const { matcher, type, wanted, nameOf, field, fields } = expectation;
  const recorder = findRecorder(received);
  if (!recorder) {
    throw new TypeError(`${matcher} takes an AnalyticsRecorder, or an instance that AnalyticsTestingModule provides`);
  }
  const events = recorder.ofType(type);
  const differing = (event: Message) => differences(event[field], fields, equals);
  const found = events.find((event) => nameOf(event) === wanted && differing(event).length === 0);
  const hint = `expect(recorder).${found ? 'not.' : ''}${matcher}(${[wanted, ...given(fields)].map(utils.printExpected).join(', ')})`;
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

const given = (fields: object): object[] => (Object.keys(fields).length > 0 ? [fields] : []);

/** The matchers, as `expect` has them. */
export interface AnalyticsMatchers<R> {
  /**
   * Whether a track event of this name was recorded, with at least these properties where any are given. What is
   * expected is an `AnalyticsRecorder`, or an instance that `AnalyticsTestingModule` provides.
   */
  toHaveTracked(event: string, properties?: EventProperties): R;
  /** Whether this user was identified, with at least these traits where any are given. */
  toHaveIdentified(userId: string, traits?: UserTraits): R;
}

/** What the matchers are made for. */
export type { AnalyticsRecorder };
