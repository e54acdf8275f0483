import type { TurnCaller } from '../../common/turns.js';
import { type DeliveryQuery, isReplayable, type ReplayableState } from './delivery.interface.js';
import type { DeliverySearch } from './delivery-search.js';
import type { DeliverySearches } from './delivery.searches.js';
import { checkQuery } from './query.util.js';
import type { ReplayQuery } from './store/delivery-store.interface.js';

/** Deliveries that are replayed at a time, each by its id. */
const REPLAYED = 200;

/** Makes deliveries due again. */
export class DeliveryReplays {
  /** @param replay makes what a store can select due; resolves with the number of deliveries */
  constructor(
    private readonly searches: DeliverySearches,
    private readonly replay: (query: ReplayQuery) => Promise<number>,
  ) {}

  /**
   * Makes matching deliveries due now; those that are dead, unless the query has another state. A dead or delivered one
   * gets a new retry window, and keeps its attempts; one that waits keeps its window. Deliveries that are queued or being
   * delivered are not replayed, because they are due. Resolves with the number of replayed deliveries.
   */
  async run(query: DeliveryQuery): Promise<number> {
    const checked = checkQuery(query);
    const { state = 'dead', id } = checked;
    if (!isReplayable(state)) return 0;
    if (state === 'dead') return this.replay({ ...checked, state });
    if (id !== undefined) return this.replay({ ...checked, state, id });
    return (await this.runFound({ ...query, state })).replayed;
  }

  /**
   * Replays the deliveries that a search finds, in portions: those in its state by their ids, because one that is attempted
   * meanwhile may be in the same state again. Resolves with their number.
   *
   * @param most maximum number of deliveries, the newest first; `more` says whether there may be others
   * @param caller whose search it is; default: the process itself
   */
  async runFound(
    search: DeliverySearch & { state: ReplayableState },
    most = Infinity,
    caller?: TurnCaller,
  ): Promise<{ replayed: number; more: boolean }> {
    const { state } = search;
    const ids: string[] = [];
    await this.searches.visit(search, ({ id }) => ids.push(id) >= most, { caller });
    let replayed = 0;
    for (let start = 0; start < ids.length; start += REPLAYED) {
      const portion = ids.slice(start, start + REPLAYED).map((id) => this.replay({ state, id }));
      replayed += (await Promise.all(portion)).reduce((sum, one) => sum + one, 0);
    }
    return { replayed, more: ids.length >= most };
  }
}
