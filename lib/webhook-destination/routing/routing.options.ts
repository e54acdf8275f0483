import type { MessageType } from '../../client/message/message.interface.js';
import { isMessageType } from '../../client/message/message.rules.js';
import { Must, MustIfPresent } from '../../common/options.rules.js';
import { isNonEmptyString } from '../../common/value.util.js';

/** Whether a value is an array of at least one element, each of which passes. */
function isFilledArray(value: unknown, passes: (element: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(passes);
}

/** The options of a destination that decide which messages it gets. */
export class RoutingOptions {
  /**
   * The key looked for in a message's `integrations`, case sensitive.
   * @default 'Webhooks'
   */
  @Must('be a non-empty string, and not All', (value) => isNonEmptyString(value) && value !== 'All')
  name: string = 'Webhooks';

  /**
   * Whether messages are sent to it.
   * @default true
   */
  @Must('be a boolean', (value) => typeof value === 'boolean')
  enabled: boolean = true;

  /** Names of the sources whose messages it gets; `undefined` is refused. Default: every source. */
  @MustIfPresent('be an array of one or more source names', (value) => isFilledArray(value, isNonEmptyString))
  sources?: string[];

  /**
   * Message types it gets. Delete notifications are always sent, so `['delete']` selects only those. `undefined` is
   * refused. Default: all.
   */
  @MustIfPresent('be an array of one or more of identify, track, page, screen, group, alias, delete', (value) =>
    isFilledArray(value, (type) => isMessageType(type) || type === 'delete'),
  )
  types?: (MessageType | 'delete')[];
}
