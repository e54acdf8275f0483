import type { CountedCaller } from '../../http/caller.quota.js';
import { RequestError } from '../../http/request.error.js';
import type { DeliverySearch } from '../../queue/delivery-search.js';
import type { DeliveryRecord } from '../../queue/delivery.interface.js';
import type { FoundRefusal } from '../../queue/kept-refusals.js';
import type { NamedEntry } from '../../registry/entry.manager.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { showPortion } from './delivery.view.js';
import type { ReplayJobs, ReplayProgress } from './replay.jobs.js';

/** Maximum length of the text, in characters. */
const MAX_LENGTH = 500;

/** Maximum number of deliveries, or of entries, of each kind in an answer. */
const LIMIT = 10;

/** How long deliveries of one kind are read, in ms: those of fields in `search.fields` are found at once. */
const READ_TIME = 50;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Deliveries that have the text in one field. */
export interface FoundDeliveries {
  /** The query of `GET deliveries` that finds all of them, or their id. */
  query: Record<string, string>;
  /** The newest, as `GET deliveries` shows them. */
  deliveries: object[];
  /** Whether there may be more: the query finds them. */
  more: boolean;
}

/** What a text names, in the order in which the dashboard shows it. */
export interface TextFindings {
  /** A bulk replay with this id. */
  replay?: ReplayProgress | undefined;
  /** By id, each of `search.fields`, message id, user id and anonymous id; only kinds with deliveries, or perhaps more. */
  found: FoundDeliveries[];
  /** Refused messages with this message id or user id. */
  refusals: FoundRefusal[];
  /** Those with the text in their name or a value of their metadata. */
  destinations: NamedEntry[];
  sources: NamedEntry[];
}

/** Finds whatever an id or a value names. Each kind is searched once, for a bounded time. */
export async function findByText(
  text: string | undefined,
  relay: AdminRelay,
  own: AdminProcess,
  jobs: ReplayJobs,
  caller: CountedCaller,
): Promise<TextFindings> {
  const wanted = text?.trim() ?? '';
  if (wanted === '' || wanted.length > MAX_LENGTH) {
    throw new RequestError('query_invalid', `text must have 1 to ${MAX_LENGTH} characters`, 'text');
  }
  const { refusals: kept, searches } = own.queue;
  const [replay, found, refusals, destinations, sources] = await Promise.all([
    UUID.test(wanted) ? jobs.find(wanted).catch(unlessUnknown) : undefined,
    findDeliveries(wanted, relay, own.queue, caller),
    searches.inTurn(() => kept.findById(wanted, LIMIT, READ_TIME), caller),
    relay.destinations.findNamed(wanted, LIMIT),
    relay.sources.findNamed(wanted, LIMIT),
  ]);
  return { replay, found, refusals, destinations, sources };
}

function unlessUnknown(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'replay_unknown') throw error;
}

/** Searches one kind after another: one search runs at a time anyway. */
async function findDeliveries(
  text: string,
  relay: AdminRelay,
  queue: AdminProcess['queue'],
  caller: CountedCaller,
): Promise<FoundDeliveries[]> {
  const { names } = queue.searched;
  const ofField = (name: string) => ({ search: { fields: { [name]: text } }, query: { [`field.${name}`]: text } });
  const kinds: { search: DeliverySearch; query: Record<string, string> }[] = [
    ...names.map(ofField),
    { search: { messageId: text }, query: { messageId: text } },
    { search: { userId: text }, query: { userId: text } },
    ...(names.includes('anonymousId') ? [] : [{ ...ofField('anonymousId'), query: { anonymousId: text } }]),
  ];
  const byId = await showPortion({ deliveries: await relay.deliveries({ id: text }), next: undefined });
  const found: FoundDeliveries[] = [{ query: { id: text }, deliveries: byId.deliveries, more: false }];
  for (const { search, query } of kinds) {
    const end = performance.now() + READ_TIME;
    const deliveries: DeliveryRecord[] = [];
    let after: string | undefined;
    do {
      const portion = await queue.searches.search(search, { limit: LIMIT - deliveries.length, after }, caller);
      deliveries.push(...portion.deliveries);
      after = portion.next;
    } while (after !== undefined && deliveries.length < LIMIT && performance.now() < end);
    const portion = await showPortion({ deliveries, next: after });
    found.push({ query, deliveries: portion.deliveries, more: portion.cursor !== undefined });
  }
  return found.filter(({ deliveries, more }) => deliveries.length > 0 || more);
}
