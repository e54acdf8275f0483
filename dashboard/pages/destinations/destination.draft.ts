import { ApiError } from '../../api/api.error.js';
import type { Pair } from '../../components/pairs-field.component.js';
import type { DestinationEntry } from '../../../lib/webhook-destination/registry/registry-entry.interface.js';

/** A destination as entered in the form. */
export interface Draft {
  name: string;
  sharedSecret: string;
  /** New URLs; undefined keeps the current ones, whose user info, query and tokens the API hides. */
  urls: string[] | undefined;
  /** New headers; undefined keeps the current ones, whose values the API hides. */
  headers: Pair[] | undefined;
  integration: string;
  enabled: boolean;
  /** One per line. */
  sources: string;
  types: string[];
  /** One per line. */
  events: string;
  /** Numbers, as typed. */
  requests: string;
  per: string;
  concurrency: string;
  retryOn: string;
  retryWindow: string;
  /** `'true'`, `'false'`, or empty for the default. */
  standardWebhooks: string;
  propagateTrace: boolean;
  metadata: Pair[];
}

/** Fields of the form, as the API names them. */
export const FORM_FIELDS = [
  ...['name', 'sharedSecret', 'urls', 'headers', 'integration', 'enabled', 'sources', 'types', 'events'],
  ...['rateLimit', 'concurrency', 'retryOn', 'retryWindow', 'standardWebhooks', 'propagateTrace', 'metadata'],
];

export const EMPTY_DRAFT: Draft = {
  name: '',
  sharedSecret: '',
  urls: [''],
  headers: [],
  integration: '',
  enabled: true,
  sources: '',
  types: [],
  events: '',
  requests: '',
  per: '',
  concurrency: '',
  retryOn: '',
  retryWindow: '',
  standardWebhooks: '',
  propagateTrace: false,
  metadata: [],
};

/**
 * Returns the draft with what its URLs require: at an origin that none of the present URLs has, the API asks again for
 * the values of headers, and for the secret.
 */
export function withNewOrigin(draft: Draft, present: { urls: string[]; headers: string[] } | undefined): Draft {
  if (!present) return draft;
  if (!hasNewOrigin(draft, present)) return { ...draft, sharedSecret: '' };
  return { ...draft, headers: draft.headers ?? present.headers.map((name) => ({ name, value: '' })) };
}

export function hasNewOrigin({ urls = [] }: Draft, present: { urls: string[] }): boolean {
  const known = present.urls.map(originOf);
  return urls.map(originOf).some((origin) => origin !== undefined && !known.includes(origin));
}

function originOf(url: string): string | undefined {
  try {
    return new URL(url.trim()).origin;
  } catch {
    return undefined;
  }
}

export function toDraft(entry: DestinationEntry): Draft {
  return {
    ...EMPTY_DRAFT,
    name: entry.name,
    urls: undefined,
    headers: undefined,
    integration: entry.integration ?? '',
    enabled: entry.enabled,
    sources: (entry.sources ?? []).join('\n'),
    types: entry.types ?? [],
    events: (entry.events ?? []).join('\n'),
    requests: String(entry.rateLimit?.requests ?? ''),
    per: String(entry.rateLimit?.per ?? ''),
    concurrency: String(entry.concurrency ?? ''),
    retryOn: entry.retryOn ?? '',
    retryWindow: String(entry.retryWindow ?? ''),
    standardWebhooks: String(entry.standardWebhooks ?? ''),
    propagateTrace: entry.propagateTrace,
    metadata: Object.entries(entry.metadata).map(([name, value]) => ({ name, value })),
  };
}

/**
 * Converts a draft to options; empty ones are omitted.
 *
 * @throws {ApiError} for a repeated name of a header or of metadata
 */
export function toOptions(draft: Draft): Record<string, unknown> {
  const { name, sharedSecret, urls, headers, integration, enabled, types, propagateTrace } = draft;
  const options = {
    name,
    sharedSecret: sharedSecret || undefined,
    urls: urls?.map((url) => url.trim()).filter((url) => url !== ''),
    headers: headers && toRecord('headers', headers),
    integration: integration || undefined,
    enabled,
    sources: toLines(draft.sources),
    types: types.length > 0 ? types : undefined,
    events: toLines(draft.events),
    rateLimit:
      draft.requests || draft.per ? { requests: toNumber(draft.requests), per: toNumber(draft.per) } : undefined,
    concurrency: toNumber(draft.concurrency),
    retryOn: draft.retryOn || undefined,
    retryWindow: toNumber(draft.retryWindow),
    standardWebhooks: draft.standardWebhooks === '' ? undefined : draft.standardWebhooks === 'true',
    propagateTrace,
    metadata: toRecord('metadata', draft.metadata),
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Returns the changed fields; null resets a field to its default. */
export function toPatch(before: Draft, after: Draft): Record<string, unknown> {
  const [old, options] = [toOptions(before), toOptions(after)];
  const names = new Set([...Object.keys(old), ...Object.keys(options)]);
  const changed = [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(options[name]));
  return Object.fromEntries(changed.map((name) => [name, options[name] ?? null]));
}

function toLines(text: string): string[] | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length > 0 ? lines : undefined;
}

/** Returns text that is not a finite number unchanged, so that the API names the rule. */
function toNumber(text: string): number | string | undefined {
  const number = Number(text);
  if (text.trim() === '') return undefined;
  return Number.isFinite(number) ? number : text;
}

/**
 * Converts rows to a record. Rows with neither a name nor a value are omitted.
 *
 * @throws {ApiError} for a repeated name, because a record would keep only its last value
 */
function toRecord(field: string, pairs: Pair[]): Record<string, string> {
  const filled = pairs.filter(({ name, value }) => name !== '' || value !== '');
  const names = filled.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new ApiError(
      400,
      'name_repeated',
      `${field} must have the name ${JSON.stringify(repeated)} only once`,
      field,
    );
  }
  return Object.fromEntries(filled.map(({ name, value }) => [name, value]));
}
