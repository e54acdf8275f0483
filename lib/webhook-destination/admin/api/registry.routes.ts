import type { CountedCaller } from '../../http/caller.quota.js';
import { PAGE_FIELDS, type QueryReader } from '../../http/query.reader.js';
import { RequestError } from '../../http/request.error.js';
import type { RelaySeries } from '../../observe/relay-series.js';
import type { DestinationManager, NewDestination } from '../../registry/destination.manager.js';
import { originOf } from '../../registry/new-origin.rules.js';
import type { EntryQuery } from '../../registry/registry-entry.interface.js';
import type { NewSource, SourceManager } from '../../registry/source.manager.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { type ApiRequest, type ApiRoute, changeRoute, readRoute } from './api.route.js';
import { readDestinationFigures, readEach } from './destination.figures.js';
import { DESTINATION_ORDERS, type DestinationRanking } from './destination.ranking.js';

/** Maximum number of entries in an answer with figures. */
const MAX_WITH_FIGURES = 50;

const ENTRY_FIELDS = {
  figures: 'true adds recent figures, in the field figures',
};

const LIST_FIELDS = {
  name: 'text that the name contains, whatever its case',
  ...ENTRY_FIELDS,
  'metadata.*': 'value of the metadata with this name',
  ...PAGE_FIELDS,
};

const SORT_FIELDS = {
  sort: `one of ${DESTINATION_ORDERS.join(', ')}; default: name. The worst come first, by the figures of the last hour`,
};

/** Body fields whose values are logged: they are neither secrets nor anybody's data. */
const LOGGED = [
  ...['name', 'enabled', 'sources', 'types', 'events', 'rateLimit', 'concurrency', 'retryOn', 'retryWindow'],
  ...['overlap', 'type', 'messageId'],
];

/** Reads the figures of entries for a caller: one object for each name, in the same order. */
type ReadFigures = (names: string[], caller: CountedCaller) => Promise<object[]>;

/** Routes of sources and destinations. Only the entries of the registry can be changed. */
export function registryRoutes(
  { sources, destinations }: AdminRelay,
  own: AdminProcess,
  series: RelaySeries,
  ranking: DestinationRanking,
): ApiRoute[] {
  return [
    ...entryRoutes(
      'destination',
      destinations,
      (names, caller) => own.queue.searches.inTurn(() => readDestinationFigures(own, series, names), caller),
      ranking,
    ),
    ...entryRoutes('source', sources, (names, caller) =>
      own.queue.searches.inTurn(() => readEach(names, (name) => series.readSource(name)), caller),
    ),
    action('destination', 'pause', 'Queue its messages without sending them', (name) => destinations.pause(name)),
    action('destination', 'resume', 'Send what was queued while it was paused', (name) => destinations.resume(name)),
    action('destination', 'enable', 'Enable an endpoint that was disabled because it failed', (name) =>
      destinations.enable(name),
    ),
    action('destination', 'test', 'Send one message now, outside the queue', (name, body) =>
      destinations.test(name, body),
    ),
    action(
      'destination',
      'rotate-secret',
      'Rotate the secret; both secrets sign until the overlap ends',
      (name, body) => destinations.rotateSecret(name, body),
    ),
    action('destination', 'end-overlap', 'End the overlap of a rotation now: only the present secret signs', (name) =>
      destinations.endOverlap(name),
    ),
    action('source', 'rotate-key', 'Rotate the write key; both keys are valid until the overlap ends', (name, body) =>
      sources.rotateKey(name, body),
    ),
    action('source', 'end-overlap', 'End the overlap of a rotation now: only the present key is valid', (name) =>
      sources.endOverlap(name),
    ),
  ];
}

function entryRoutes(
  kind: 'source' | 'destination',
  manager: Manager,
  readFigures: ReadFigures,
  ranking?: DestinationRanking,
): ApiRoute[] {
  const all = `${kind}s`;
  const one = `${all}/:name`;
  return [
    readRoute(
      all,
      `List ${all}, sorted by name${ranking ? ' or by their figures' : ''}`,
      async ({ query, counted }) => {
        const limit = wantsFigures(query) ? query.limitUpTo(MAX_WITH_FIGURES, ' with figures') : query.limit;
        const order = (ranking && query.oneOf('sort', DESTINATION_ORDERS)) ?? 'name';
        const { found, cursor } =
          ranking && order !== 'name'
            ? await listRanked(manager, query, limit, (names) => ranking.sort(names, order, counted))
            : await listByName(manager, query, limit);
        return { [all]: await withFigures(found, query, counted, readFigures), cursor };
      },
      ranking ? { ...LIST_FIELDS, ...SORT_FIELDS } : LIST_FIELDS,
    ),
    changeRoute('POST', all, `Create a ${kind}; a generated key or secret is answered only once`, async (request) => {
      const entry = await manager.create(request.body as unknown as NewDestination & NewSource);
      record(request, `${kind}.create`, entry.name);
      return entry;
    }),
    readRoute(
      one,
      `One ${kind}`,
      async ({ params, query, counted }) => {
        const entry = await manager.get(params.name!);
        if (entry) return (await withFigures([entry], query, counted, readFigures))[0];
        throw new RequestError(`${kind}_unknown`, `${kind} "${params.name!}" does not exist`, 'name');
      },
      ENTRY_FIELDS,
    ),
    changeRoute('PATCH', one, `Change fields of a ${kind}; null resets a field to its default`, async (request) => {
      const entry = await manager.update(request.params.name!, request.body);
      record(request, `${kind}.update`, request.params.name!);
      return entry;
    }),
    changeRoute('DELETE', one, `Remove a ${kind}`, async (request) => {
      await manager.remove(request.params.name!);
      record(request, `${kind}.remove`, request.params.name!);
      return { removed: request.params.name! };
    }),
  ];
}

/** A page of entries. */
interface EntryPage {
  found: { name: string }[];
  /** Where the next page begins. */
  cursor: string | undefined;
}

type Manager = SourceManager | DestinationManager;

function filterOf(query: QueryReader): Pick<EntryQuery, 'metadata' | 'name'> {
  return { metadata: query.below('metadata'), name: query.text('name') };
}

async function listByName(manager: Manager, query: QueryReader, limit: number): Promise<EntryPage> {
  const page = { limit: limit + 1, after: query.text('cursor'), ...filterOf(query) };
  const found: { name: string }[] = await manager.list(page);
  const shown = found.slice(0, limit);
  return { found: shown, cursor: found.length > limit ? shown.at(-1)!.name : undefined };
}

/** @param sort ranks all names; the cursor is the number of those before the page */
async function listRanked(
  manager: Manager,
  query: QueryReader,
  limit: number,
  sort: (names: string[]) => Promise<string[]>,
): Promise<EntryPage> {
  const cursor = query.text('cursor') ?? '0';
  if (!/^\d{1,9}$/.test(cursor)) {
    throw new RequestError('query_invalid', 'cursor must be that of an answer with the same sort', 'cursor');
  }
  const names = await sort(await manager.names(filterOf(query)));
  const end = Number(cursor) + limit;
  const found = await Promise.all(names.slice(Number(cursor), end).map((name) => manager.get(name)));
  return {
    found: found.filter((entry) => entry !== undefined), // one may have been removed
    cursor: end < names.length ? String(end) : undefined,
  };
}

function wantsFigures(query: QueryReader): boolean {
  return query.oneOf('figures', ['true', 'false']) === 'true';
}

/** Returns the entries, with their figures if the query asks for them. */
async function withFigures(
  entries: { name: string }[],
  query: QueryReader,
  caller: CountedCaller,
  readFigures: ReadFigures,
): Promise<{ name: string }[]> {
  if (!wantsFigures(query)) return entries;
  const names = entries.map(({ name }) => name);
  const figures = await readFigures(names, caller);
  return entries.map((entry, index) => ({ ...entry, figures: figures[index] }));
}

function action(
  kind: 'source' | 'destination',
  verb: string,
  summary: string,
  run: (name: string, body: object) => Promise<object>,
): ApiRoute {
  return changeRoute('POST', `${kind}s/:name/${verb}`, summary, async (request) => {
    const result = await run(request.params.name!, request.body);
    record(request, `${kind}.${verb}`, request.params.name!, verb === 'test' ? ['type'] : undefined);
    return result;
  });
}

/**
 * Records a change in the audit log: the fields of the body, with the values of those in {@link LOGGED}. URLs become their
 * origins.
 *
 * @param fields the only fields recorded, if the body may contain a user's data
 */
function record({ body, audit }: ApiRequest, action: string, target: string, fields = Object.keys(body)): void {
  const recorded = Object.entries(body).filter(([field]) => fields.includes(field));
  const shown = (field: string, value: unknown): unknown => {
    if (field === 'urls' && Array.isArray(value)) return value.map((url) => originOf(url) ?? '***');
    return LOGGED.includes(field) ? value : '***';
  };
  const details = Object.fromEntries(recorded.map(([field, value]) => [field, shown(field, value)]));
  audit({ action, target, details });
}
