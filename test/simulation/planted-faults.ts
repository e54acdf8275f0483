/** A fault that the simulation must find: a place of the built package, and what stands there instead. */
export interface PlantedFault {
  name: string;
  file: string;
  /** Once in the file, or as often as the expression matches. */
  find: string | RegExp;
  replace: string;
  /** Whether the simulation of the client finds it. */
  isOfClient?: boolean;
}

const relay = 'webhook-destination';

/** Faults that the delivery core once had, and faults of the same kinds in the places where they would hurt most. */
export const PLANTED_FAULTS: PlantedFault[] = [
  {
    name: 'a delivery dies without an attempt, if it was accepted longer ago than the retry window',
    file: `${relay}/dispatch/destination.loop.js`,
    find: 'const isLast = this.circuit.isOpen &&',
    replace: `if (now > delivery.acceptedAt + this.context.options.retryWindow && delivery.attempts.length === 0)
        return void this.settle(lease, { state: 'dead', reason: 'the retry window is over', failedUrls: [] });
      const isLast = this.circuit.isOpen &&`,
  },
  {
    name: 'a delivery that an open circuit held back dies without its last attempt',
    file: `${relay}/dispatch/destination.loop.js`,
    find: 'const isLast = this.circuit.isOpen && now >= this.lastAttemptOf(delivery);',
    replace: `const isLast = this.circuit.isOpen && now >= this.lastAttemptOf(delivery);
      if (isLast) return void this.settle(lease, { state: 'dead', reason: 'the retry window is over', failedUrls: [] });`,
  },
  {
    name: 'a late timer fires before the answers are read that have arrived',
    file: 'client/timer.limits.js',
    find: 'if (late < 1)',
    replace: 'if (late < Infinity)',
  },
  {
    name: 'a replay keeps the old backoff',
    file: `${relay}/dispatch/outcome.util.js`,
    find: 'attempts.filter((earlier) => earlier.startedAt >= firstAttemptAt)',
    replace: 'attempts',
  },
  {
    name: 'a jump of the clock counts towards the retry window',
    file: `${relay}/dispatch/destination.loop.js`,
    find: 'timeWithin([...pauses, ...jumps]',
    replace: 'timeWithin([...pauses]',
  },
  {
    name: "one destination's dead letters push out another's",
    file: `${relay}/queue/retention-bound.util.js`,
    find: 'Math.min(record[figure], Math.floor(room / (ascending.length - index)))',
    replace: 'Math.min(record[figure], room)',
  },
  {
    name: 'texts of errors are not bounded',
    file: 'client/error.util.js',
    find: 'text.length > maxLength',
    replace: 'text.length > Infinity',
  },
  {
    name: 'Retry-After defers one delivery, and not its destination',
    file: `${relay}/dispatch/circuit-breaker.js`,
    find: 'this.pausedUntil = Math.max(this.pausedUntil, until);',
    replace: '',
  },
  {
    name: 'a full store refuses deletions',
    file: `${relay}/ingest/message.acceptor.js`,
    find: 'isBegun: true, beyondLimit: true',
    replace: 'isBegun: true, beyondLimit: false',
  },
  {
    name: 'a deletion misses what was accepted before the clock was set back',
    file: `${relay}/admin/user-deletion.js`,
    find: 'purgeBySource({ userId: userIds, source: sources }',
    replace: 'purgeBySource({ userId: userIds, source: sources, acceptedBefore: this.queue.now() + 1 }',
  },
  {
    name: 'what waits for a connection is sent after its deletion',
    file: `${relay}/dispatch/destination.loop.js`,
    find: 'attempt.lease.isWithdrawn ||',
    replace: '',
  },
  {
    name: 'what was stored without an answer is not delivered, if nobody consumes its destination',
    file: `${relay}/queue/delivery.queue.js`,
    find: 'void this.announceOpen();',
    replace: '',
  },
  {
    name: 'a purge leaves what is in memory',
    file: `${relay}/queue/delivery.queue.js`,
    find: 'this.withdrawn.add(delivery);',
    replace: '',
  },
  {
    name: 'what fell due while the feed was busy is forgotten',
    file: `${relay}/queue/store/destination-feed.js`,
    find: 'this.backlog ||= more;',
    replace: '',
  },
  {
    name: 'a delivery is read again while its outcome is being recorded',
    file: `${relay}/queue/store/destination-feed.js`,
    find: 'deliveries.filter((delivery) => !this.isEarly(delivery))',
    replace: 'deliveries',
  },
  {
    name: 'a retry is not awaited',
    file: `${relay}/queue/delivery.queue.js`,
    find: "else if (outcome.state === 'waiting')",
    replace: 'else if (false)',
  },
  {
    name: 'a frozen process hands out what others have taken',
    file: `${relay}/queue/store/destination-feed.js`,
    find: /(this\.)?store\.holdsLeases\(\)/g,
    replace: 'true',
  },
  {
    name: 'an outcome that could not be recorded is dropped',
    file: `${relay}/queue/store/settlement.writer.js`,
    find: 'this.group = [...failed.keys(), ...this.group];',
    replace: '',
  },
  {
    name: 'a changed destination goes on as it was',
    file: `${relay}/dispatch/webhook.dispatcher.js`,
    find: 'if (this.#loops.has(name) && sendsAlike(present, destination))',
    replace: 'if (this.#loops.has(name))',
  },
  {
    name: 'the deliveries of a removed destination stay open',
    file: `${relay}/dispatch/webhook.dispatcher.js`,
    find: 'this.leave(name);\n        this.end(name);',
    replace: 'this.leave(name);',
  },
  {
    name: 'a pause that the service asked for lasts longer if the clock is set back',
    file: 'client/timer.limits.js',
    find: 'return seconds * 1e3 + nanoseconds / 1e6;',
    replace: 'return Date.now();',
    isOfClient: true,
  },
  {
    name: 'Retry-After defers one batch, and not its client',
    file: 'client/delivery/batch.publisher.js',
    find: 'await this.untilResumed(batch);',
    replace: 'if (attempt > 0) await this.untilResumed(batch);',
    isOfClient: true,
  },
  {
    name: 'an event that is given up is sent all the same',
    file: 'client/delivery/event.queue.js',
    find: 'batch.abort(reason);',
    replace: '',
    isOfClient: true,
  },
  {
    name: 'what waits for a request in flight is forgotten',
    file: 'client/delivery/event.queue.js',
    find: 'this.requests--;\n            this.pump();',
    replace: 'this.requests--;',
    isOfClient: true,
  },
];
