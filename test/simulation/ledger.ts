import { createHmac } from 'node:crypto';

import type {
  Delivery,
  DeliveryCount,
  DeliveryOutcome,
  DeliveryRecord,
} from '../../lib/webhook-destination/queue/delivery.interface.js';
import type { Settlement } from '../../lib/webhook-destination/queue/store/delivery-store.interface.js';
import type { WebhookRequest } from '../../lib/webhook-destination/transport/webhook-transport.interface.js';
import type { RegistryDocument, RelayProcess } from './relay-process.js';
import type { ScenarioOptions } from './scenario.js';
import type { SimulatedProcess, Simulation } from './simulation.js';

/** Time that a process has to act on what it has learned, in ms. */
const REACTION = 500;

/** Time after which a process that could not reach the database is up to date again, in ms. */
const RECOVERY = 30_000;

/** Wait that is too short for another attempt before the end of the window, in ms. */
const MIN_LAST_WAIT = 1_000;

/** Deliveries leased at once to find one that probes a destination which is down. */
const PROBED = 8;

/** Most messages of one call, of which all may be held if one may. */
const MAX_POST = 10;

/** Longest text that an attempt keeps of an error. */
const MAX_ERROR = 1_000;

/** A webhook that a receiver gets. */
export interface WebhookRecord {
  key: string;
  process: RelayProcess;
  begun: number;
  /** When the answer reached the machine of the sender. */
  arrived?: number;
  status?: number;
  retryAfter?: number;
  /** When the sender read it. */
  read?: number;
}

/** A message on its way to one destination. */
interface Fate {
  destination: string;
  userId: string | undefined;
  isNotice: boolean;
  state: 'open' | 'delivered' | 'dead' | 'purged';
  requests: WebhookRecord[];
  /** Attempts recorded in the window. */
  attempts: number;
  lastAttempt: number;
  /** True time at which the window began: with the first request, or with the replay. */
  windowBegan: number | undefined;
  insertedAt: number;
  replayedAt: number;
  /** The process with the lease. */
  holder: RelayProcess | undefined;
  leasedAt: number;
  purgedAt: number;
}

/** What is true of deliveries, and complains where what happens differs. */
export class Ledger {
  readonly violations: string[] = [];
  readonly counts = { deliveries: 0, requests: 0, delivered: 0, dead: 0, waiting: 0 };
  disturbedAt = -Infinity;
  /** When the clock of a machine last jumped. */
  jumpedAt = -Infinity;
  private readonly fates = new Map<string, Fate>();
  private readonly byId = new Map<string, Fate>();
  /** Until when a receiver asked a process for no requests. */
  private readonly pauses = new Map<string, { from: number; until: number }>();

  private readonly connections = new WeakMap<RelayProcess, number>();
  /** Deliveries in the memory of each process, by destination. */
  private readonly held = new Map<string, number>();

  constructor(
    private readonly simulation: Simulation,
    private readonly options: ScenarioOptions,
  ) {}

  violate(rule: string, story: string): void {
    this.violations.push(rule);
    this.simulation.tell(`VIOLATION of "${rule}": ${story}`);
  }

  inserted(deliveries: Pick<Delivery, 'destination' | 'messageId' | 'userId' | 'body'>[]): void {
    for (const { destination, messageId, userId, body } of deliveries) {
      const key = keyOf(destination, messageId);
      if (this.fates.has(key)) continue;
      this.counts.deliveries++;
      this.fates.set(key, {
        destination,
        userId,
        isNotice: body.toString().startsWith('{"type":"delete"'),
        state: 'open',
        requests: [],
        attempts: 0,
        lastAttempt: 0,
        windowBegan: undefined,
        insertedAt: this.simulation.now,
        replayedAt: 0,
        holder: undefined,
        leasedAt: 0,
        purgedAt: 0,
      });
    }
  }

  leased({ id, destination, messageId }: Delivery, holder: RelayProcess | undefined): void {
    const fate = this.fates.get(keyOf(destination, messageId))!;
    this.byId.set(id, fate);
    this.hold(fate, holder);
    fate.leasedAt = this.simulation.now;
    this.simulation.detail(() => `${keyOf(destination, messageId)} is leased by ${holder?.name}`);
  }

  freed(id: string): void {
    const fate = this.byId.get(id);
    if (fate) this.hold(fate, undefined);
    this.simulation.detail(() => `the lease of ${id} has ended`);
  }

  settled({ delivery, outcome }: Settlement, process: RelayProcess | undefined): void {
    const fate = this.byId.get(delivery.id)!;
    const key = keyOf(delivery.destination, delivery.messageId);
    this.hold(fate, undefined);
    this.simulation.detail(() => `${key} is recorded as ${outcome ? outcome.state : 'returned'} by ${process?.name}`);
    if (!outcome) return;
    const requests = fate.requests.filter((request) => request.process === process && request.begun >= fate.leasedAt);
    const isAnswered = requests.some(
      ({ status = 0, arrived = Infinity, begun, read }) =>
        status < 300 && read !== undefined && arrived - begun <= this.options.timeout / 2 && status >= 200,
    );
    this.counts[outcome.state]++;
    // With several URLs, one may have waited for a connection for long.
    const isAlone = this.options.urlsOf(delivery.destination).length === 1;
    if (outcome.state !== 'delivered' && isAnswered && isAlone) {
      this.violate(
        'an answer that arrived in time counts',
        `${key} was answered 2xx, and is recorded as ${outcome.state}`,
      );
    }
    if (outcome.state === 'delivered' && !requests.some(({ status = 0 }) => status >= 200 && status < 300)) {
      this.violate('delivered means answered', `${key} is recorded as delivered, and no receiver answered 2xx`);
    }
    if (outcome.state !== 'delivered') this.checkTexts(key, outcome);
    if (outcome.attempt) {
      // What may have been recorded is recorded again.
      if (outcome.attempt.startedAt !== fate.lastAttempt) fate.attempts++;
      fate.lastAttempt = outcome.attempt.startedAt;
      fate.windowBegan ??= requests[0]?.begun ?? this.simulation.now;
    }
    if (outcome.state === 'waiting') this.checkSchedule(key, fate, delivery, outcome);
    if (outcome.state === 'dead') this.checkDeath(key, fate, outcome, process);
    if (process && outcome.state !== 'delivered') this.notePause(fate, requests, outcome, process);
    if (outcome.state !== 'waiting') fate.state = outcome.state;
  }

  replayed(deliveries: { id: string }[]): void {
    for (const { id } of deliveries) {
      const fate = this.byId.get(id)!;
      fate.state = 'open';
      fate.attempts = 0;
      fate.windowBegan = fate.replayedAt = this.simulation.now;
    }
  }

  purged(deliveries: { destination: string; messageId: string }[]): void {
    for (const { destination, messageId } of deliveries) {
      const fate = this.fates.get(keyOf(destination, messageId))!;
      fate.state = 'purged';
      fate.purgedAt = this.simulation.now;
      this.hold(fate, undefined);
    }
  }

  /** A bound takes records from the destinations with the most. */
  swept(before: DeliveryCount[], after: DeliveryCount[], surplus: DeliveryCount[]): void {
    for (const { destination, state } of surplus) {
      const kept = (name: string) => after.find((row) => row.destination === name && row.state === state)?.count ?? 0;
      for (const row of before.filter((other) => other.state === state && other.destination !== destination)) {
        if (kept(row.destination) <= kept(destination) + 1) continue;
        const others = `${row.destination} keeps ${kept(row.destination)} ${state} records`;
        this.violate('a bound is shared fairly', `${destination} keeps ${kept(destination)}, and ${others}`);
      }
    }
  }

  /** Records a request that a process has begun, and checks that it may. */
  requested(process: RelayProcess, request: WebhookRequest): WebhookRecord {
    const { simulation } = this;
    const messageId = request.headers['X-Message-Id']!;
    const [destination] = new URL(request.url).hostname.split('.') as [string];
    const key = keyOf(destination, messageId);
    const record: WebhookRecord = { key, process, begun: simulation.now };
    const fate = this.fates.get(key);
    this.counts.requests++;
    if (!fate) {
      this.violate('only what was accepted is sent', `${key} was sent to ${request.url}`);
      return record;
    }
    // An attempt goes on at its other URLs once its delivery is settled.
    const goesOn =
      this.options.urlsOf(destination).length > 1 && fate.requests.some((other) => other.process === process);
    fate.requests.push(record);
    simulation.detail(() => `${key} is sent to ${request.url} by ${process.name}`);
    fate.windowBegan ??= record.begun;
    this.checkEntry(key, process, destination, request);
    const isAware = !this.isDisturbed(process);
    // The signal of a purge may overtake the answer to what is added meanwhile.
    const isPurged = fate.state === 'purged' && fate.purgedAt - fate.insertedAt < REACTION;
    if (isAware && !goesOn && !isPurged && fate.holder !== process && simulation.now - fate.purgedAt > REACTION) {
      const what = `${key} (${fate.state}) was sent by ${process.name}`;
      this.violate('only the holder of the lease sends', `${what}, the lease is ${fate.holder?.name ?? 'nobody'}'s`);
    }
    const pause = this.pauses.get(`${process.name} ${destination}`);
    if (
      pause &&
      this.jumpedAt < pause.from &&
      record.begun > pause.from + REACTION &&
      record.begun < pause.until - REACTION &&
      isAware
    ) {
      const until = (pause.until / 1_000).toFixed(3);
      this.violate(
        'Retry-After pauses the destination',
        `${key} was sent, its receiver asked for none until ${until} s`,
      );
    }
    return record;
  }

  /** Counts the connections of a process, which `maxSockets` bounds. */
  connected(process: RelayProcess, change: 1 | -1): void {
    const count = (this.connections.get(process) ?? 0) + change;
    this.connections.set(process, count);
    const { maxSockets } = this.options.relay;
    if (count > maxSockets) this.violate('sockets are bounded', `${process.name} has ${count} of ${maxSockets}`);
  }

  /** Checks what an acknowledgement promises. */
  acknowledged(messageIds: string[]): void {
    for (const messageId of messageIds) {
      for (const destination of this.options.fixed) {
        if (!this.fates.has(keyOf(destination, messageId))) {
          this.violate('acknowledged is stored', `${messageId} is not stored for ${destination}`);
        }
      }
    }
  }

  /** Returns the open and ended deliveries of a user, which a deletion that begins now must remove. */
  ofUser(userId: string): string[] {
    const isOfUser = (fate: Fate) => fate.userId === userId && fate.state !== 'purged' && !fate.isNotice;
    return [...this.fates].filter(([, fate]) => isOfUser(fate)).map(([key]) => key);
  }

  /** @param left what the queue holds after the deletion */
  deleted(keys: string[], left: DeliveryRecord[]): void {
    const kept = new Set(left.map(({ destination, messageId }) => keyOf(destination, messageId)));
    for (const key of keys) {
      if (!kept.has(key)) continue;
      this.violate('a deletion removes what was there', `${key} is still in the queue`);
    }
  }

  /** Checks at the end, when all faults are over, that nothing is left but what waits for its operator. */
  ended(open: DeliveryRecord[], isHeld: (destination: string) => boolean): void {
    for (const { destination, messageId, state, nextAttemptAt = 0 } of open) {
      // What was accepted while the clock was ahead is due once it has caught up.
      if (isHeld(destination) || nextAttemptAt > this.simulation.systemTime + this.options.retryWindow) continue;
      const key = keyOf(destination, messageId);
      this.violate('all is delivered or dead in the end', `${key} is still ${state}`);
    }
    for (const [key, fate] of this.fates) {
      if (fate.state === 'dead' && fate.requests.length === 0 && !this.removals.has(fate.destination)) {
        this.violate('at least one attempt precedes death', `${key} is dead without any request`);
      }
    }
  }

  /** Destinations that were removed at some time. */
  readonly removals = new Set<string>();

  /** Changes who holds a delivery. What a process holds of a destination is bounded by a multiple of its concurrency. */
  private hold(fate: Fate, holder: RelayProcess | undefined): void {
    const count = (of: RelayProcess, change: number): number => {
      const id = `${of.name} ${fate.destination}`;
      const held = (this.held.get(id) ?? 0) + change;
      this.held.set(id, held);
      return held;
    };
    if (fate.holder) count(fate.holder, -1);
    fate.holder = holder;
    if (!holder) return;
    const held = count(holder, 1);
    const { isShared, relay } = this.options;
    const most = Math.max(relay.concurrency, PROBED) * (isShared ? 4 : 16) + MAX_POST;
    if (held > most && !this.isDisturbed(holder)) {
      this.violate('memory is bounded', `${holder.name} holds ${held} deliveries to ${fate.destination}`);
    }
  }

  private isDisturbed(process: SimulatedProcess): boolean {
    const { frozenUntil } = process;
    const { now } = this.simulation;
    return now - frozenUntil < REACTION || now - this.disturbedAt < RECOVERY;
  }

  /** A process that has learned what a destination is sends no webhook in an earlier form. */
  private checkEntry(key: string, process: RelayProcess, destination: string, request: WebhookRequest): void {
    const known = process.known.get(destination);
    const fixed = this.options.secrets[destination];
    const now = this.simulation.now;
    if (!known) {
      if (fixed !== undefined) this.checkSignature(key, request, [fixed]);
      return;
    }
    if (now - Math.max(known.since, process.frozenUntil) < REACTION) return;
    const { document } = known;
    const urls = document?.options.urls ?? [];
    if (!document) this.violate('nothing is sent to a removed destination', `${key} was sent to ${request.url}`);
    else if (!urls.includes(request.url)) {
      this.violate('nothing is sent to an earlier URL', `${key} was sent to ${request.url}, not to ${urls.join(', ')}`);
    } else if (document.options.enabled === false || isPaused(document)) {
      this.violate('nothing is sent to a paused destination', `${key} was sent to ${request.url}`);
    } else this.checkSignature(key, request, [document.options.sharedSecret!]);
  }

  private checkSignature(key: string, { headers, body }: WebhookRequest, [secret]: [string]): void {
    const expected = createHmac('sha1', secret).update(body).digest('hex');
    if (headers['X-Signature'] === expected) return;
    this.violate('the signature is by the current secret', `${key} was signed by another one`);
  }

  /** The wait before the next attempt: doubled each time, varied by a fifth, longer if the receiver asks for it. */
  private checkSchedule(key: string, fate: Fate, delivery: Delivery, outcome: Waiting): void {
    const { attempt, nextAttemptAt } = outcome;
    if (this.options.urlsOf(fate.destination).length > 1) return; // it ends with the last of its requests
    if (!attempt || this.simulation.now - this.jumpedAt < this.options.retryWindow) return;
    const { initialRetryDelay, maxRetryDelay, retryWindow } = this.options;
    const ended = attempt.startedAt + Math.max(...attempt.results.map(({ duration }) => duration));
    const delay = Math.min(initialRetryDelay * 2 ** (fate.attempts - 1), maxRetryDelay);
    const wait = nextAttemptAt - ended;
    const isAsked = attempt.results.some(({ status }) => status === 429 || status === 503);
    const lead = Math.min(5_000, retryWindow * 0.1);
    const last = (delivery.firstAttemptAt ?? attempt.startedAt) + retryWindow - lead;
    const isShort = wait < 0.8 * delay - 50 && nextAttemptAt < last - 50;
    // It waits longer while the process was frozen, or paused.
    const isLong = wait > 1.2 * delay + REACTION && !isAsked && this.simulation.now - this.disturbedAt > RECOVERY;
    if (!isShort && !isLong) return;
    const waits = `${(wait / 1_000).toFixed(1)} s after attempt ${fate.attempts} of the window`;
    this.violate('the wait before a retry is as documented', `${key} waits ${waits}, not about ${delay / 1_000} s`);
  }

  private checkDeath(key: string, fate: Fate, outcome: Dead, process: RelayProcess | undefined): void {
    const { reason, attempt } = outcome;
    if (reason === 'destination removed') {
      if (!this.removals.has(fate.destination)) this.violate('the reason is true', `${key}: ${reason}`);
      return;
    }
    if (fate.requests.length === 0) {
      this.violate('at least one attempt precedes death', `${key} is dead without any request: ${reason}`);
    }
    if (reason !== 'the retry window is over') return;
    if (!attempt?.results.length) this.violate('the last attempt is made', `${key} is dead without it: ${reason}`);
    const { retryWindow } = this.options;
    // The window of a message that an open circuit holds back before its first attempt begins then.
    const began = fate.attempts === 1 ? Math.max(fate.insertedAt, fate.replayedAt) : fate.windowBegan!;
    const elapsed = this.simulation.now - began;
    const lead = Math.min(5_000, retryWindow * 0.1);
    // A process knows of the jumps of the clock that it has lived through.
    const hasSeenAll = process !== undefined && fate.requests.every((request) => request.process === process);
    if (elapsed >= retryWindow - lead - MIN_LAST_WAIT - REACTION || !(hasSeenAll || this.jumpedAt === -Infinity))
      return;
    const after = `${(elapsed / 1_000).toFixed(1)} s of ${retryWindow / 1_000} s`;
    this.violate('the retry window is that long', `${key} is dead after ${after}`);
  }

  private checkTexts(key: string, { attempt }: DeliveryOutcome): void {
    const longest = Math.max(0, ...(attempt?.results ?? []).map(({ error = '' }) => error.length));
    if (longest > MAX_ERROR) this.violate('texts of errors are bounded', `${key} keeps ${longest} characters`);
  }

  private notePause(fate: Fate, requests: WebhookRecord[], outcome: Waiting | Dead, process: RelayProcess): void {
    // A destination is not paused if one of several URLs asks for nothing, and no longer once it is changed.
    const { fixed, urlsOf } = this.options;
    if (!fixed.includes(fate.destination) || urlsOf(fate.destination).length > 1) return;
    const last = requests.at(-1);
    if (last?.retryAfter === undefined || last.read === undefined || this.simulation.now - this.jumpedAt < 60_000)
      return;
    const asked = last.read + last.retryAfter;
    const due =
      outcome.state === 'waiting' ? outcome.nextAttemptAt - process.epoch : last.read + this.options.retryWindow;
    const id = `${process.name} ${fate.destination}`;
    const until = Math.min(asked, due);
    if ((this.pauses.get(id)?.until ?? 0) < until) this.pauses.set(id, { from: this.simulation.now, until });
  }

  /** Forgets what receivers asked a process for: it has ended, or the destination was changed. */
  forgetPauses(destination?: string): void {
    for (const id of this.pauses.keys()) {
      if (destination === undefined || id.endsWith(` ${destination}`)) this.pauses.delete(id);
    }
  }
}

type Waiting = Extract<DeliveryOutcome, { state: 'waiting' }>;
type Dead = Extract<DeliveryOutcome, { state: 'dead' }>;

function keyOf(destination: string, messageId: string): string {
  return `${destination}/${messageId}`;
}

function isPaused({ pauses = [] }: RegistryDocument): boolean {
  const last = pauses.at(-1);
  return last !== undefined && last.to === undefined;
}
