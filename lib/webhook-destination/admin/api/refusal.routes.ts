import { PAGE_FIELDS, type QueryReader } from '../../http/query.reader.js';
import { refuseFields, RequestError } from '../../http/request.error.js';
import type { Schema } from '../../http/route.controller.js';
import type { RelaySeries } from '../../observe/relay-series.js';
import { isLogId } from '../../queue/log-store.interface.js';
import type { RefusalFilter } from '../../queue/kept-refusals.js';
import type { AdminProcess } from './admin-services.interface.js';
import { type ApiRoute, changeRoute, readRoute } from './api.route.js';

/** Maximum number of ids in a request. */
const MAX_IDS = 1_000;

const SOURCE_FIELD = { source: 'name of the source; required' };

const FILTER_FIELDS = {
  code: 'code of the rule that is broken',
  field: 'the field at fault',
  sdk: 'library of the sender, or else its User-Agent, or else unknown',
};

const TEXT: Schema = { type: 'string' };

/** Routes of the messages that ingest has refused. */
export function refusalRoutes(own: AdminProcess, series: RelaySeries): ApiRoute[] {
  const { queue, resubmission } = own;
  const { refusals } = queue;
  return [
    readRoute(
      'refusals',
      'Refused messages of a source, newest first; a page has the cursor of the next one',
      async ({ query, counted }) => {
        const source = sourceIn(query);
        const filter = { code: query.text('code'), field: query.text('field'), sdk: query.text('sdk') };
        const page = { limit: query.limit, after: query.text('cursor') };
        if (page.after !== undefined && !isLogId(page.after))
          throw fault('cursor must be that of an earlier answer', 'cursor');
        const { refusals: found, next } = await queue.searches.inTurn(
          () => refusals.page(source, filter, page),
          counted,
        );
        return { refusals: found, cursor: next };
      },
      { ...SOURCE_FIELD, ...FILTER_FIELDS, ...PAGE_FIELDS },
    ),
    // Before the route of one message, which they would be otherwise.
    readRoute(
      'refusals/count',
      'Count the refused messages of a source by reason and SDK',
      async ({ query, counted }) => {
        const source = sourceIn(query);
        const groups = await queue.searches.inTurn(() => refusals.groups(source), counted);
        return { count: groups.reduce((sum, { count }) => sum + count, 0), groups };
      },
      SOURCE_FIELD,
    ),
    readRoute('refusals/keyless', 'Refused requests of the last day without a known write key', () =>
      series.readSource(),
    ),
    readRoute(
      'refusals/:id',
      'One refused message of a source, with its text',
      async ({ params, query }) => {
        const source = sourceIn(query);
        const [found] = isLogId(params.id!) ? await refusals.read(source, [params.id!]) : [];
        if (!found) throw new RequestError('refusal_unknown', 'the source has no refused message with this id', 'id');
        return { ...found, sentAt: undefined };
      },
      SOURCE_FIELD,
    ),
    changeRoute(
      'POST',
      'refusals/resubmit',
      'Send refused messages through the ingest of their source again, if their number is as expected',
      async ({ body, audit }) => {
        const { source, ids, expected, code, field, sdk, ...others } = body;
        refuseFields(others);
        if (typeof source !== 'string' || source === '') throw fault('source must be the name of a source', 'source');
        const filter = { code: textIn({ code }), field: textIn({ field }), sdk: textIn({ sdk }) };
        const request = ids === undefined ? { ...filter, expected: countIn(expected) } : { ids: idsIn(ids) };
        const result = await resubmission.run({ source, ...request });
        const details = ids === undefined ? request : { ids: (ids as string[]).length };
        audit({ action: 'refusals.resubmit', target: source, details: { ...details, ...result } });
        return result;
      },
      {
        type: 'object',
        required: ['source'],
        properties: {
          source: TEXT,
          ...Object.fromEntries(
            Object.entries(FILTER_FIELDS).map(([name, description]) => [name, { ...TEXT, description }]),
          ),
          expected: { type: 'integer', description: 'number of matching messages that the caller has seen' },
          ids: { type: 'array', items: TEXT, maxItems: MAX_IDS, description: 'in place of expected' },
        },
      },
    ),
  ];
}

function sourceIn(query: QueryReader): string {
  const source = query.text('source');
  if (source === undefined) throw fault('source must be given', 'source');
  return source;
}

function textIn(given: Record<string, unknown>): string | undefined {
  const [[name, value]] = Object.entries(given) as [[keyof RefusalFilter, unknown]];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw fault(`${name} must be a non-empty string`, name);
}

function countIn(expected: unknown): number {
  if (Number.isSafeInteger(expected) && (expected as number) >= 0) return expected as number;
  throw new RequestError('expected_invalid', 'expected must be a whole number, 0 or above', 'expected');
}

function idsIn(ids: unknown): string[] {
  const areIds = Array.isArray(ids) && ids.every((id) => typeof id === 'string' && isLogId(id));
  if (areIds && ids.length > 0 && ids.length <= MAX_IDS) return [...new Set(ids as string[])];
  throw fault(`ids must be a list of 1 to ${MAX_IDS} ids of refused messages`, 'ids');
}

const fault = (rule: string, field: string) => new RequestError('query_invalid', rule, field);
