import { RequestError } from '../../http/request.error.js';
import type { RelaySeries } from '../../observe/relay-series.js';
import type { DestinationManager, NewDestination } from '../../registry/destination.manager.js';
import { originOf } from '../../registry/new-origin.rules.js';
import type { NewSource, SourceManager } from '../../registry/source.manager.js';
import type { CountedCaller } from '../caller.quota.js';
import type { AdminProcess, AdminRelay } from './admin-services.interface.js';
import { type ApiRequest, type ApiRoute, changeRoute, readRoute } from './api.route.js';
import { readDestinationFigures, readEach } from './destination.figures.js';
import { PAGE_FIELDS, type QueryReader } from './query.reader.js';

/** Maximum number of entries in an answer with figures. */
const MAX_WITH_FIGURES = 50;

const ENTRY_FIELDS = {
  figures: 'true adds recent figures, in the field figures',
};

const LIST_FIELDS = {
  ...ENTRY_FIELDS,
  'metadata.*': 'value of the metadata with this name',
  ...PAGE_FIELDS,
};

/** Body fields whose values are logged: they are neither secrets nor anybody's data. */
const LOGGED = [
  ...['name', 'enabled', 'sources', 'types', 'events', 'rateLimit', 'concurrency', 'retryOn', 'overlap'],
  ...['type', 'messageId'],
];

/** Reads the figures of entries for a caller: one object for each name, in the same order. */
type ReadFigures = (names: string[], caller: CountedCaller) => Promise<object[]>;

/** Routes of sources and destinations. Only the entries of the registry can be changed. */
export function registryRoutes(
  { sources, destinations }: AdminRelay,
  own: AdminProcess,
  series: RelaySeries,
): ApiRoute[] {
  return [
    ...entryRoutes('destination', destinations, (names, caller) =>
      own.queue.inTurn(() => readDestinationFigures(own, series, names), caller),
    ),
    ...entryRoutes('source', sources, (names, caller) =>
      own.queue.inTurn(() => readEach(names, (name) => series.readSource(name)), caller),
    ),
    action('destination', 'pause', 'Queue its messages without sending them', (name) => destinations.pause(name)),
    action('destination', 'resume', 'Send what was queued while it was paused', (name) => destinations.resume(name)),
    action('destination', 'test', 'Send one message now, outside the queue', (name, body) =>
      destinations.test(name, body),
    ),
    action(
      'destination',
      'rotate-secret',
      'Rotate the secret; both secrets sign until the overlap ends',
      (name, body) => destinations.rotateSecret(name, body),
    ),
    action('source', 'rotate-key', 'Rotate the write key; both keys are valid until the overlap ends', (name, body) =>
      sources.rotateKey(name, body),
    ),
  ];
}

function entryRoutes(
  kind: 'source' | 'destination',
  manager: SourceManager | DestinationManager,
  readFigures: ReadFigures,
): ApiRoute[] {
  const all = `${kind}s`;
  const one = `${all}/:name`;
  return [
    readRoute(
      all,
      `List ${all}, sorted by name`,
      async ({ query, counted }) => {
        const limit = wantsFigures(query) ? query.limitUpTo(MAX_WITH_FIGURES, ' with figures') : query.limit;
        const found = await manager.list({
          limit: limit + 1,
          after: query.text('cursor'),
          metadata: query.below('metadata'),
        });
        const entries = await withFigures(found.slice(0, limit), query, counted, readFigures);
        return { [all]: entries, cursor: found.length > limit ? entries.at(-1)!.name : undefined };
      },
      LIST_FIELDS,
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
