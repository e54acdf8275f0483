import type { ComponentChildren } from 'preact';

import { Duration, Time, toDuration } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { Overview } from './overview.answer.js';

/** Key figures of the relay's health. */
export function Figures({ overview }: { overview: Overview }) {
  const { at, open, oldestAcceptedAt, recent, process, counts } = overview;
  const { dead = 0 } = counts;
  const ofRecent = `in the last ${recent.minutes} min`;
  return (
    <dl class="figures">
      <Figure name="To deliver" note={oldestNote(oldestAcceptedAt, at)}>
        {open.toLocaleString()}
      </Figure>
      <Figure name="Dead" note={`${recent.dead.toLocaleString()} ${ofRecent}`} isBad={dead > 0}>
        <a href={hrefOf('deliveries', { state: 'dead' })}>{dead.toLocaleString()}</a>
      </Figure>
      <Figure name="Accepted" note={toRate(recent.accepted, recent.minutes)}>
        {recent.accepted.toLocaleString()} <small class="hint">{ofRecent}</small>
      </Figure>
      <Figure name="Rejected" note={toRate(recent.rejected, recent.minutes)} isBad={recent.rejected > 0}>
        {recent.rejected.toLocaleString()} <small class="hint">{ofRecent}</small>
      </Figure>
      <Figure name="Repeated" note="not sent again">
        {recent.duplicate.toLocaleString()} <small class="hint">{ofRecent}</small>
      </Figure>
      <Figure name="Delivered" note={toRate(recent.delivered, recent.minutes)}>
        {recent.delivered.toLocaleString()} <small class="hint">{ofRecent}</small>
      </Figure>
      <Figure name="Failed attempts" note={toRate(recent.failed, recent.minutes)} isBad={recent.failed > 0}>
        {recent.failed.toLocaleString()} <small class="hint">{ofRecent}</small>
      </Figure>
      <Figure name="Attempt duration, p95" note={latencyNote(overview)}>
        <Duration ms={recent.latest?.p95} />
      </Figure>
      <Figure
        name="Lost before ingest"
        note={`by this process, since it started ${toDuration(process.uptime * 1_000)} ago`}
        isBad={process.lostBeforeIngest > 0}
      >
        {process.lostBeforeIngest.toLocaleString()}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  name: string;
  note: ComponentChildren;
  isBad?: boolean;
  children: ComponentChildren;
}

function Figure({ name, note, isBad = false, children }: FigureProps) {
  return (
    <div class="figure">
      <dt class="hint">{name}</dt>
      <dd class={isBad ? 'figure-value bad' : 'figure-value'}>{children}</dd>
      <dd class="hint">{note}</dd>
    </div>
  );
}

function oldestNote(oldest: number | null, now: number): string {
  return oldest === null ? 'nothing is waiting' : `oldest waiting for ${toDuration(Math.max(0, now - oldest))}`;
}

function latencyNote({ recent: { latest } }: Overview): ComponentChildren {
  if (!latest) return 'no attempt yet';
  return (
    <>
      in the minute from <Time at={latest.at} look="minute" />
    </>
  );
}

function toRate(count: number, minutes: number): string {
  const rate = count / (minutes * 60);
  return `${rate.toLocaleString(undefined, { maximumFractionDigits: rate < 10 ? 2 : 0 })} per second`;
}
