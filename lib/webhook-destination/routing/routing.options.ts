import { MESSAGE_TYPES, type MessageType } from '../../client/message/message.interface.js';
import { isMessageType } from '../../client/message/message.rules.js';
import { IfGiven, Must, MustBeBoolean, MustIfPresent } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { isName, NAME_LIMITS } from '../entry.rules.js';
import { areEventPatterns, MAX_PATTERN_LENGTH, MAX_PATTERNS } from './event-filter.js';

const INTEGRATION = 'be a non-empty string other than All';

const isIntegration = (value: unknown): boolean => isNonEmptyString(value) && value !== 'All';

/** Returns whether a value is a non-empty array whose elements all pass. */
function isFilledArray(value: unknown, passes: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(passes);
}

/** Options of a destination that decide which messages it receives. */
export class RoutingOptions {
  /**
   * Name of the destination in records, events and logs, and in a message's `integrations` unless `integration` is set.
   * Must be unique, with at most 500 characters, without NUL characters or lone surrogates, and not `All`.
   * @default 'Webhooks'
   */
  @Must(`${INTEGRATION}, ${NAME_LIMITS}`, (value) => isIntegration(value) && isName(value))
  name: string = 'Webhooks';

  /**
   * Key of the destination in a message's `integrations`, case-sensitive, not `All`. Several destinations may share a
   * key.
   * @default the `name` of the destination
   * @see docs/destinations.md, "Integrations"
   */
  @IfGiven()
  @Must(INTEGRATION, isIntegration)
  integration?: string;

  /**
   * Whether the destination receives messages.
   * @default true
   */
  @MustBeBoolean()
  enabled: boolean = true;

  /** Names of the sources whose messages the destination receives. `undefined` is refused. Default: every source. */
  @MustIfPresent('be an array of one or more source names', (value) => isFilledArray(value, isNonEmptyString))
  sources?: string[];

  /**
   * Message types that the destination receives: `identify`, `track`, `page`, `screen`, `group`, `alias`, `delete`.
   * Delete notifications are always sent, so `['delete']` selects only those. `undefined` is refused. Default: all.
   */
  @MustIfPresent(`be an array of one or more of ${MESSAGE_TYPES.join(', ')}, delete`, (value) =>
    isFilledArray(value, (type) => isMessageType(type) || type === 'delete'),
  )
  types?: (MessageType | 'delete')[];

  /**
   * Name patterns of the `track` events that the destination receives, case-sensitive. `*` matches any text, and a
   * leading `!` excludes. Exclusions take precedence, in any order; exclusions alone select every other event. At most
   * 100 patterns of at most 200 characters each. Messages of other types are not filtered. `undefined` is refused.
   * Default: all events.
   * @see docs/destinations.md, "Events"
   */
  @MustIfPresent(
    `be an array of 1 to ${MAX_PATTERNS} event name patterns of 1 to ${MAX_PATTERN_LENGTH} characters each, such as 'Order *' or '!Order Viewed'`,
    areEventPatterns,
  )
  events?: string[];
}
