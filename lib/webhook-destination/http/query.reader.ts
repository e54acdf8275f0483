import { parseTimestamp } from '../../common/value.util.js';
import { RequestError } from './request.error.js';

/** Maximum number of records per answer. */
const MAX_LIMIT = 500;

/** Default number of records per answer. */
const LIMIT = 50;

/** Query fields for paging. */
export const PAGE_FIELDS = {
  cursor: 'cursor of the previous answer; the last answer has none',
  limit: `maximum number of records, 1 to ${MAX_LIMIT}; default ${LIMIT}`,
};

/** Reads the query of a request. Each error names the field and its rule. */
export class QueryReader {
  /**
   * @param fields descriptions of the fields of the route, by name
   * @throws {RequestError} 400 for a field that the route does not have, or a field given twice
   */
  constructor(
    private readonly given: URLSearchParams,
    fields: Record<string, string>,
  ) {
    const known = Object.keys(fields);
    const names = [...given.keys()];
    for (const name of names) {
      const isKnown = known.some(
        (field) => name === field || (field.endsWith('.*') && name.startsWith(field.slice(0, -1))),
      );
      if (!isKnown) throw fault(name, `is not a field of this query; it has ${known.join(', ') || 'none'}`);
      if (names.indexOf(name) !== names.lastIndexOf(name)) throw fault(name, 'must be given only once');
    }
  }

  /** @throws {RequestError} 400 for an empty value: ignoring the field would match everything */
  text(name: string): string | undefined {
    const value = this.given.get(name) ?? undefined;
    if (value === '') throw fault(name, 'must not be empty');
    return value;
  }

  /** Returns a field that must have one of the given values. */
  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined || values.includes(value as T)) return value as T | undefined;
    throw fault(name, `must be one of ${values.join(', ')}`);
  }

  /** Returns a time in ms since the epoch; the field may also be in ISO 8601, as UTC if it has no zone. */
  time(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const time = /^\d{1,15}$/.test(value) ? Number(value) : parseTimestamp(value)?.getTime();
    if (time === undefined)
      throw fault(name, 'must be milliseconds since the epoch, or a date such as 2026-01-31T12:00:00Z');
    return time;
  }

  /** Returns a field that must be an HTTP status. */
  status(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined || /^[1-5]\d\d$/.test(value)) return value === undefined ? undefined : Number(value);
    throw fault(name, 'must be an HTTP status, such as 404');
  }

  get limit(): number {
    return this.limitUpTo(MAX_LIMIT);
  }

  /**
   * Returns the maximum number of records of the answer.
   *
   * @param reason why no more than `max` are allowed, for the error
   */
  limitUpTo(max: number, reason = ''): number {
    const value = this.text('limit') ?? String(LIMIT);
    const limit = Number(value);
    if (/^\d+$/.test(value) && limit >= 1 && limit <= max) return limit;
    throw fault('limit', `must be a whole number from 1 to ${max}${reason}`);
  }

  /** Returns the fields below a name: for `metadata`, the field `metadata.tenant` as `tenant`. */
  below(name: string): Record<string, string> {
    const start = `${name}.`;
    const fields = [...this.given].filter(([field]) => field.startsWith(start));
    return Object.fromEntries(fields.map(([field, value]) => [field.slice(start.length), value]));
  }
}

function fault(field: string, rule: string): RequestError {
  return new RequestError('query_invalid', `${field} ${rule}`, field);
}
