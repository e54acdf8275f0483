import { Must } from '../common/options.rules.js';

/** Maximum number of searched fields: each costs a key in the queue for every delivery that has it. */
const MAX_FIELDS = 8;

/** Maximum length of a field's path, in characters. */
const MAX_LENGTH = 200;

const FIELD = /^(?:(?:properties|traits|context)(?:\.[^.]+)+|anonymousId|groupId|name|category)$/;

const RULE =
  `be an array of at most ${MAX_FIELDS} different paths of fields, each below properties, traits or context, such as ` +
  `'properties.orderId', or one of anonymousId, groupId, name and category`;

/** Whether a path is that of a field in a body whose values can be searched. */
export function isSearchable(path: unknown): path is string {
  return typeof path === 'string' && path.length <= MAX_LENGTH && FIELD.test(path);
}

/** How deliveries are found. */
export class SearchOptions {
  /**
   * Fields of messages by whose values the admin API and the dashboard find deliveries at once, as dotted paths such as
   * `properties.orderId`. At most 8. For each delivery that has such a field, the queue keeps a hash of its value, for as
   * long as the delivery. Holds for messages accepted since the option was set. Default: other fields are found by
   * reading the bodies.
   * @default []
   * @see docs/admin-api.md, "Search by fields of messages"
   */
  @Must(RULE, areFields)
  fields: string[] = [];
}

function areFields(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= MAX_FIELDS &&
    value.every(isSearchable) &&
    new Set(value).size === value.length
  );
}
