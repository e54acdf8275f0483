import type { MessageType } from '../../client/message/message.interface.js';
import { isMessageType } from '../../client/message/message.rules.js';
import { IfGiven, Must, MustIfPresent } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';
import { areEventPatterns, MAX_PATTERN_LENGTH, MAX_PATTERNS } from './event-filter.js';

const INTEGRATION = 'be a non-empty string, and not All';

const isIntegration = (value: unknown): boolean => isNonEmptyString(value) && value !== 'All';

/** Whether a value is an array of at least one element, each of which passes. */
function isFilledArray(value: unknown, passes: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(passes);
}

/** The options of a destination that decide which messages it gets. */
export class RoutingOptions {
  /**
   * Names the destination in records, events and logs, and in a message's `integrations` unless `integration` is set.
   * Different for each destination, not `All`.
   * @default 'Webhooks'
   */
  @Must(INTEGRATION, isIntegration)
  name: string = 'Webhooks';

  /**
   * The key looked for in a message's `integrations`, case sensitive, not `All`. Several destinations may share one.
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
  @Must('be a boolean', (value) => typeof value === 'boolean')
  enabled: boolean = true;

  /** Names of the sources whose messages it receives; `undefined` is refused. Default: every source. */
  @MustIfPresent('be an array of one or more source names', (value) => isFilledArray(value, isNonEmptyString))
  sources?: string[];

  /**
   * Message types it receives: `identify`, `track`, `page`, `screen`, `group`, `alias`, `delete`. Delete notifications are
   * always sent, so `['delete']` selects only those. `undefined` is refused. Default: all.
   */
  @MustIfPresent('be an array of one or more of identify, track, page, screen, group, alias, delete', (value) =>
    isFilledArray(value, (type) => isMessageType(type) || type === 'delete'),
  )
  types?: (MessageType | 'delete')[];

  /**
   * Patterns of the names of `track` events that it receives: `*` stands for any text, `!` in front excludes, and case
   * counts. An exclusion takes precedence wherever it stands; exclusions alone select every other event. At most 100
   * patterns of at most 200 characters each. Messages of other types are not filtered; `undefined` is refused.
   * Default: all events.
   * @see docs/destinations.md, "Events"
   */
  @MustIfPresent(
    `be an array of 1 to ${MAX_PATTERNS} event name patterns of 1 to ${MAX_PATTERN_LENGTH} characters each, such as 'Order *' or '!Order Viewed'`,
    areEventPatterns,
  )
  events?: string[];
}
