import { ArgumentError } from '../../../common/relay.errors.js';
import { DEAD_REASONS } from '../../queue/dead-reasons.js';
import type { ApiCaller } from './api-caller.interface.js';

/** A tool of an AI assistant. The admin API checks arguments: its errors name the field and the rule. */
export interface McpTool {
  name: string;
  description: string;
  /** Access of the caller that the tool requires. */
  access: 'read' | 'write';
  inputSchema: { type: 'object'; properties: Record<string, object>; required?: string[]; additionalProperties: false };
  call: (client: ApiCaller, values: Record<string, unknown>) => Promise<unknown>;
}

const text = (description: string) => ({ type: 'string', description });

const QUERY = {
  state: { type: 'string', enum: ['queued', 'waiting', 'delivering', 'delivered', 'dead'] },
  destination: text('name of the destination'),
  source: text('name of the source'),
  type: text('type of the message, such as track, or delete'),
  event: text('exact name of the event'),
  eventStart: text('how the name of the event begins'),
  messageId: text('id of the message'),
  userId: text('user of the message'),
  anonymousId: text('anonymous id of the message'),
  status: text('HTTP status that a URL answered in the last attempt'),
  release: text('release of the application that recorded the message'),
  reason: text(`why deliveries are dead: ${Object.keys(DEAD_REASONS).join(', ')}, or an exact reason`),
  from: text('accepted at this time or later, ISO 8601'),
  to: text('accepted before this time, ISO 8601'),
};

const PAGE = {
  limit: { type: 'integer', description: 'default: 20' },
  cursor: text('cursor of the answer before, to continue'),
};

const REPLAYED = {
  type: 'string',
  enum: ['waiting', 'delivered', 'dead'],
  description: 'state that it has: a delivered one reaches its receiver a second time',
};

const ID = { id: text('id of the delivery, as search_deliveries lists it') };

/** Portions of a search that are read to find one delivery: each takes about 50 ms. */
const MAX_PORTIONS = 100;

export const TOOLS: McpTool[] = [
  read(
    'overview',
    'Health of the relay: deliveries by state, the last 5 minutes, the 25 destinations that most need attention.',
    {
      call: (client) => client.get('overview'),
    },
  ),
  read(
    'search_deliveries',
    'Deliveries, newest first, with the last attempt of each. An answer with a cursor is incomplete, even if empty.',
    { properties: { ...QUERY, ...PAGE }, call: (client, values) => client.get('deliveries', { limit: 20, ...values }) },
  ),
  read(
    'count_deliveries',
    'Number of deliveries by destination, source, state and reason. An answer with a cursor is incomplete.',
    {
      properties: { ...QUERY, cursor: PAGE.cursor },
      call: (client, values) => client.get('deliveries/count', values),
    },
  ),
  read(
    'show_delivery',
    'One delivery: its body, all attempts with their answers, and where its message went and why.',
    {
      properties: ID,
      required: ['id'],
      call: (client, { id }) => client.get(`deliveries/${toSegment(id, 'id')}`),
    },
  ),
  read('why_not_delivered', 'Why a destination did not get a message: its delivery there, or why it was not routed.', {
    properties: { messageId: QUERY.messageId, destination: QUERY.destination },
    required: ['messageId', 'destination'],
    call: whyNot,
  }),
  read('explain', 'Whether a message would be accepted, where it would go, and what would be sent. Sends nothing.', {
    properties: {
      message: { type: 'object', description: 'as an SDK posts it, with its type', additionalProperties: true },
      source: text('name of its source; default: the only source'),
    },
    required: ['message'],
    call: (client, values) => client.post('explain', values),
  }),
  read('destinations', 'Destinations with their options, counts of deliveries by state, and the last 60 minutes.', {
    properties: { name: text('only this one'), ...PAGE },
    call: (client, values) => entries(client, 'destinations', values),
  }),
  read('sources', 'Sources: when each last sent something, what was accepted and refused in a day, and why.', {
    properties: { name: text('only this one'), ...PAGE },
    call: (client, values) => entries(client, 'sources', values),
  }),
  {
    ...read('replay_delivery', 'Sends one dead or delivered delivery again, or tries one that waits now.', {
      properties: { ...ID, state: REPLAYED },
      required: ['id', 'state'],
      call: (client, { id, state }) => client.post(`deliveries/${toSegment(id, 'id')}/replay`, { state }),
    }),
    access: 'write',
  },
  {
    ...read(
      'replay_deliveries',
      'Sends all matching deliveries again, dead ones by default, but none if their number is not as expected. Count them first.',
      {
        properties: {
          query: { type: 'object', properties: QUERY, additionalProperties: false },
          expected: { type: 'integer', description: 'number of deliveries that you have seen to match' },
          rate: { type: 'integer', description: 'deliveries per second; default: as many as the queue takes' },
        },
        required: ['query', 'expected'],
        call: (client, values) => client.post('replays', values),
      },
    ),
    access: 'write',
  },
  read('replay_progress', 'Progress of a replay that replay_deliveries has started.', {
    properties: { id: text('id in the answer of replay_deliveries') },
    required: ['id'],
    call: (client, { id }) => client.get(`replays/${toSegment(id, 'id')}`),
  }),
];

function read(
  name: string,
  description: string,
  {
    call,
    properties = {},
    required,
  }: Pick<McpTool, 'call'> & { properties?: Record<string, object>; required?: string[] },
): McpTool {
  return {
    name,
    description,
    access: 'read',
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    call,
  };
}

function entries(client: ApiCaller, kind: string, { name, ...page }: Record<string, unknown>): Promise<unknown> {
  if (name === undefined) return client.get(kind, { limit: 20, ...page, figures: true });
  return client.get(`${kind}/${toSegment(name, 'name')}`, { figures: true });
}

interface Found {
  deliveries: { id: string }[];
  cursor?: string;
}

/** Answers with the delivery of a message to a destination, or else with the decision not to send it there. */
async function whyNot(client: ApiCaller, { messageId, destination }: Record<string, unknown>): Promise<unknown> {
  const name = toSegment(destination, 'destination');
  toSegment(messageId, 'messageId');
  const own = await findOne(client, { messageId, destination });
  if (own) return { delivery: await client.get(`deliveries/${toSegment(own.id, 'id')}`) };
  await client.get(`destinations/${name}`); // fails if no destination has this name
  const other = await findOne(client, { messageId });
  if (!other) return whyNowhere(client, messageId);
  const { routing } = (await client.get(`deliveries/${toSegment(other.id, 'id')}`)) as {
    routing: { destination: string }[];
  };
  const decision = routing.find((each) => each.destination === destination);
  const note =
    'The message was routed, but not to this destination. The decision is that of the present options, without ' +
    'the integrations of the message, which are not stored';
  return { note, decision: decision ?? 'not among the 100 destinations that the answer has; use explain', other };
}

/** Answers with the refusals of a message that has no delivery. */
async function whyNowhere(client: ApiCaller, messageId: unknown): Promise<object> {
  const { refusals } = (await client.get('search', { text: messageId })) as { refusals: object[] };
  if (refusals.length > 0) return { note: 'The message was refused, so no destination got it', refusals };
  const note =
    'The queue has no delivery of this message, nor is it among the refused ones that are kept: it was not received, ' +
    'was selected by no destination, or has been removed by retention. The tools sources and explain help to find out';
  return { note };
}

async function findOne(client: ApiCaller, query: Record<string, unknown>): Promise<{ id: string } | undefined> {
  let cursor: string | undefined;
  for (let portion = 0; portion < MAX_PORTIONS; portion++) {
    const found = (await client.get('deliveries', { ...query, limit: 1, cursor })) as Found;
    if (found.deliveries.length > 0) return found.deliveries[0];
    cursor = found.cursor;
    if (cursor === undefined) return undefined;
  }
  throw new ArgumentError('the queue is too large for this search; use search_deliveries with from and to');
}

/** Encodes a value for a path, which `.` and `..` would leave. */
function toSegment(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '' || /^\.{1,2}$/.test(value)) {
    throw new ArgumentError(`${field} must be a non-empty string, other than . and ..`);
  }
  return encodeURIComponent(value);
}
