import type { Schema } from '../../http/route.controller.js';
import { DEAD_REASONS } from '../../queue/dead-reasons.js';
import { SHOWN_STATES } from '../delivery.view.js';

const text = (description?: string): Schema => ({ type: 'string', ...(description !== undefined && { description }) });
const time = (description = 'in ms since the epoch'): Schema => ({ type: 'integer', description });
const oneOf = (...values: string[]): Schema => ({ type: 'string', enum: values });
const list = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...(description !== undefined && { description }),
});

/** An object; properties are required unless their name ends in `?`. */
function object(properties: Record<string, Schema>, description?: string): Schema {
  const all = Object.entries(properties);
  const required = all.flatMap(([name]) => (name.endsWith('?') ? [] : [name]));
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(all.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    ...(description !== undefined && { description }),
  };
}

const URL_SCHEMA = text('an http or https URL, shown without user info');
const DESCRIPTION = text('at most 500 characters');
const EVENTS: Schema = {
  ...list(text(), 'names of events, of which * matches any text and a leading ! excludes; null for all events'),
  nullable: true,
};
const SIGNATURE = 'v1 signs with a shared secret, v1a with a private key';

const ENDPOINT_FIELDS = {
  id: text(),
  url: URL_SCHEMA,
  description: DESCRIPTION,
  events: EVENTS,
  state: oneOf('active', 'failing', 'paused', 'disabled'),
  'failingSince?': time('first failure since the last success, in ms since the epoch'),
  'disabled?': object(
    { since: time(), reason: oneOf('failing', 'gone', 'asked', 'paused') },
    'set while it is disabled or paused',
  ),
  signature: { ...oneOf('v1', 'v1a', 'none'), description: SIGNATURE },
  'publicKey?': text('verifies the signatures of v1a'),
  'previousSecretUntil?': time('end of the overlap of a rotation, in ms since the epoch'),
  createdAt: time(),
};

export const ENDPOINT = object(ENDPOINT_FIELDS);

export const ENDPOINT_WITH_COUNTS = object({
  ...ENDPOINT_FIELDS,
  counts: object(
    { waiting: { type: 'integer' }, delivered: { type: 'integer' }, dead: { type: 'integer' } },
    'kept deliveries, some seconds old at most',
  ),
});

export const ENDPOINT_WITH_SECRET = object({
  ...ENDPOINT_FIELDS,
  'secret?': text('the new shared secret; absent for v1a, whose publicKey is shown'),
});

export const SECRETS = object({
  'secret?': text('the shared secret; absent for v1a'),
  'publicKey?': text('of v1a'),
  'previous?': text('the previous secret or public key, until the overlap ends'),
  'previousSecretUntil?': time(),
});

export const ENDPOINTS = object({ endpoints: list(ENDPOINT) });

export const NEW_ENDPOINT = object({
  url: text('an http or https URL; the network policy refuses private addresses'),
  'events?': EVENTS,
  'description?': DESCRIPTION,
  'signature?': { ...oneOf('v1', 'v1a'), description: `${SIGNATURE}; default: v1` },
});

export const ENDPOINT_CHANGES = object({
  'url?': text('an http or https URL'),
  'events?': EVENTS,
  'description?': DESCRIPTION,
});

export const ROTATION = object({
  'overlap?': {
    type: 'integer',
    description:
      'how long the previous secret signs as well, in ms, at most 31536000000 (365 days); default: 86400000 (a day)',
  },
  'signature?': { ...oneOf('v1', 'v1a'), description: `${SIGNATURE}; default: as before` },
});

export const TEST = object({ event: text('name of the event; if the catalogue has an example, this is sent') });

export const SINCE = object({ since: time('accepted at this time or later, in ms since the epoch') });

const ATTEMPT = object({
  at: time(),
  outcome: oneOf('success', 'temporary', 'permanent'),
  'status?': { type: 'integer', description: 'HTTP status of the answer' },
  'error?': {
    ...oneOf('unreachable', 'timeout', 'certificate'),
    description: 'why there was no whole answer; refused: the network policy does not allow the address',
  },
  duration: { type: 'integer', description: 'in ms' },
  'answer?': object(
    {
      'type?': text('media type'),
      'text?': text('the first 1,024 bytes, with secrets as ***'),
      bytes: { type: 'integer' },
    },
    'what the receiver answered to a failed attempt',
  ),
});

const DELIVERY_FIELDS = {
  id: text(),
  endpoint: text('id of the endpoint'),
  messageId: text(),
  'type?': text('type of the message; delete for a deletion notice'),
  'event?': text('name of the event'),
  state: oneOf(...Object.keys(SHOWN_STATES)),
  acceptedAt: time(),
  'nextAttemptAt?': time(),
  'reason?': { ...oneOf(...Object.keys(DEAD_REASONS), 'failed'), description: 'why it is dead' },
};

export const DELIVERIES = object({
  deliveries: list(
    object({
      ...DELIVERY_FIELDS,
      attempts: { type: 'integer', description: 'number of attempts' },
      'lastAttempt?': ATTEMPT,
    }),
  ),
  'cursor?': text('for the next portion; the last one has none'),
});

export const DELIVERY = object({
  ...DELIVERY_FIELDS,
  attempts: list(ATTEMPT),
  body: text('the JSON that is sent'),
  'givesUpAt?': time('end of the retry window, in ms since the epoch'),
});

export const TESTED = object({ attempt: ATTEMPT });

export const REMOVED = object({ removed: { type: 'boolean' } });

const COUNT: Schema = { type: 'integer', description: 'number of deliveries' };

export const REPLAYED = object({
  replayed: COUNT,
  'more?': { type: 'boolean', description: 'whether there may be others: send the request again' },
});

export const ACTIVATED = object({
  ...ENDPOINT_FIELDS,
  replayed: COUNT,
  'more?': { type: 'boolean', description: 'whether there may be others, which are sent some seconds later' },
});

export const SESSION = object({
  tenant: text(),
  access: oneOf('read', 'write'),
  'person?': text(),
  expiresAt: time(),
  'returnUrl?': text(),
  'brand?': object({ name: text(), 'logo?': text(), 'accent?': text() }),
  limits: object({ endpoints: { type: 'integer', description: 'maximum number of endpoints' } }),
});

export const EVENTS_ANSWER = object({
  events: list(
    object({
      name: text(),
      'description?': text(),
      'schema?': object({}, 'JSON Schema'),
      'example?': object({}, 'a body, as it is sent'),
    }),
  ),
});

export const DOCUMENT = object({}, 'the document');
