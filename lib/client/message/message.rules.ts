import { types } from 'node:util';

import type { ErrorCode } from '../error.codes.js';
import type { MessageType } from './message.interface.js';
import { MAX_MESSAGE_ID_LENGTH } from './message.limits.js';

/** A rule that a message breaks. */
export interface MessageFault {
  /** Path of the invalid field. */
  field: string;
  /** The rule's stable name, in snake case. */
  code: ErrorCode;
  /** Description of the rule; never contains the value. */
  message: string;
}

/** A field whose value is an object. */
export type ObjectField = 'context' | 'integrations' | 'properties' | 'traits';

type Fields = Record<string, unknown>;
type Rule = (message: Fields) => MessageFault | undefined;

export const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Whether a value is an object in the sense of JSON: not null, an array, a Date, a Map or the like. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.prototype.toString.call(value) === '[object Object]';
}

// A date, optionally with time, seconds, fraction and zone. Date.parse alone would accept '1' or 'May'.
const ISO_8601 = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)(?:[Zz]|([+-]\d{2}):?(\d{2})?)?)?$/;

// Days 29 to 31, which some months lack, are left to Date.
const WIRE_TIMESTAMP = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether a value is a valid timestamp in the format of `Date.prototype.toISOString`. */
export function isWireTimestamp(value: unknown): value is string {
  return typeof value === 'string' && WIRE_TIMESTAMP.test(value);
}

/** Parses a timestamp, as UTC if it has no zone; returns undefined if it is invalid. */
export function parseTimestamp(value: unknown): Date | undefined {
  // Not `instanceof`: under Jest, the dates of Node's own modules are of another class.
  const date = types.isDate(value) ? value : typeof value === 'string' ? parseIso8601(value) : undefined;
  const year = date ? date.getUTCFullYear() : NaN;
  return year >= 0 && year <= 9999 ? date : undefined; // JSON of any other year has a sign, which few parsers accept
}

function parseIso8601(text: string): Date | undefined {
  const [, day, time = '00:00', hours, minutes = '00'] = ISO_8601.exec(text) || [];
  if (day === undefined || !isDay(day)) return undefined;
  return new Date(`${day}T${time.replace(',', '.')}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
}

/** Whether the day exists: Date turns the 30th of February into the 2nd of March. */
function isDay(day: string): boolean {
  const date = new Date(day);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === day;
}

function must(field: string, code: ErrorCode, rule: string, holds: (value: unknown) => boolean): Rule {
  const fault = { field, code, message: `${field} must ${rule}` };
  return (message) => (holds(message[field]) ? undefined : fault);
}

const optionalString = (field: string, code: ErrorCode): Rule =>
  must(field, code, 'be a string', (value) => value === undefined || value === null || typeof value === 'string');

const requiredString = (field: string, code: ErrorCode): Rule =>
  must(field, code, 'be a non-empty string', isNonEmptyString);

const optionalObject = (field: ObjectField): Rule =>
  must(field, `${field}_not_object`, 'be an object', (value) => value == null || isPlainObject(value));

const noIdentity: MessageFault = {
  field: 'userId',
  code: 'no_user_anon_id',
  message: 'at least one of userId and anonymousId must be a non-empty string',
};
const someIdentity: Rule = (message) =>
  isMissing(message.userId) && isMissing(message.anonymousId) ? noIdentity : undefined;

const common: Rule[] = [
  optionalString('userId', 'user_id_not_string'),
  optionalString('anonymousId', 'anonymous_id_not_string'),
  optionalString('messageId', 'message_id_not_string'),
  must(
    'messageId',
    'message_id_too_long',
    `be shorter than ${MAX_MESSAGE_ID_LENGTH} characters`,
    (id) => typeof id !== 'string' || id.length < MAX_MESSAGE_ID_LENGTH,
  ),
  must(
    'timestamp',
    'timestamp_invalid',
    'be a valid Date or ISO 8601 string',
    (value) => isMissing(value) || isWireTimestamp(value) || parseTimestamp(value) !== undefined,
  ),
  optionalObject('context'),
  optionalObject('integrations'),
];
const name = optionalString('name', 'name_not_string');
const category = optionalString('category', 'category_not_string');

const rules: Record<MessageType, Rule[]> = {
  identify: [...common, someIdentity, optionalObject('traits')],
  track: [...common, someIdentity, requiredString('event', 'event_not_string'), optionalObject('properties')],
  page: [...common, someIdentity, name, category, optionalObject('properties')],
  screen: [...common, someIdentity, name, category, optionalObject('properties')],
  group: [...common, someIdentity, requiredString('groupId', 'group_id_not_string'), optionalObject('traits')],
  alias: [
    ...common,
    requiredString('userId', 'user_id_not_string'),
    requiredString('previousId', 'previous_id_not_string'),
  ],
};

export function isMessageType(value: unknown): value is MessageType {
  return typeof value === 'string' && Object.prototype.hasOwnProperty.call(rules, value);
}

/**
 * Returns the first rule that a message of this type breaks, or undefined. `null` counts as absent, and an empty string
 * as missing.
 *
 * @see docs/specification.md, "Messages"
 */
export function findMessageFault(type: MessageType, message: Record<string, unknown>): MessageFault | undefined {
  for (const rule of rules[type]) {
    const fault = rule(message);
    if (fault) return fault;
  }
  return undefined;
}
