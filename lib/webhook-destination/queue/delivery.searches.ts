import { RelayError } from '../../client/relay.error.js';
import { type TurnCaller, Turns } from '../../common/turns.js';
import type { DeliveryPage, DeliveryRecord } from './delivery.interface.js';
import { checkSearch, type DeliveryPortion, type DeliverySearch } from './delivery-search.js';
import { checkPage } from './query.util.js';
import type { DeliveryStore } from './store/delivery-store.interface.js';

/** How long a read waits for its turn, in ms. */
const WAIT = 3_000;

/** Maximum pause after another read than a search, in ms. */
const READ_PAUSE = 100;

/** Deliveries that a visit reads with one search. */
const VISITED = 2_000;

/** Where a visit of deliveries begins, and whose it is. */
export interface VisitOptions {
  after?: string | undefined;
  /** Time after which it ends, in ms. Default: it goes on to the last delivery. */
  time?: number;
  /** Default: the process itself. */
  caller?: TurnCaller | undefined;
}

/**
 * Runs one long read of a queue at a time, because such reads delay deliveries. Callers have turns; without one they are
 * the process itself. Methods reject with the {@link RelayError} `too_many_searches` if those before take longer than
 * {@link WAIT}.
 */
export class DeliverySearches {
  private readonly turns = new Turns(
    1,
    WAIT,
    () => new RelayError('too_many_searches', `other searches took longer than ${WAIT / 1_000} s; try again`),
  );

  constructor(private readonly store: Pick<DeliveryStore, 'search'>) {}

  /** Returns the next matching deliveries, newest first, as many as are found in a short time. */
  async search(search: DeliverySearch, page: DeliveryPage = {}, caller?: TurnCaller): Promise<DeliveryPortion> {
    const checked = [checkSearch(search), checkPage(page)] as const;
    return this.turns.run(() => this.store.search(...checked), caller);
  }

  /**
   * Visits the matching deliveries, newest first and without their bodies, in portions between which other searches have
   * their turn. Resolves with the value of `after` to go on with; undefined if all were visited.
   *
   * @param visit returns whether to end the visit, after this delivery
   */
  async visit(
    search: DeliverySearch,
    visit: (delivery: DeliveryRecord) => boolean | void,
    { after, time = Infinity, caller }: VisitOptions = {},
  ): Promise<string | undefined> {
    const end = performance.now() + time;
    const checked = checkSearch(search);
    let next = after;
    do {
      const page = { limit: VISITED, after: next, isBodiless: true };
      const portion = await this.turns.run(() => this.store.search(checked, page), caller);
      for (const delivery of portion.deliveries) if (visit(delivery)) return delivery.id;
      ({ next } = portion);
    } while (next !== undefined && performance.now() < end);
    return next;
  }

  /** Runs another read that takes as long as a search, followed by a pause, because it has none of its own. */
  inTurn<T>(work: () => Promise<T>, caller?: TurnCaller): Promise<T> {
    return this.turns.run(work, caller, READ_PAUSE);
  }
}
