import type { ComponentChildren } from 'preact';

import { CountLink } from '../../components/count-link.component.js';
import { Duration, Time, toDuration } from '../../components/time.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { Overview } from './overview.answer.js';

/** What became of the messages lately, step by step, and key figures of the relay's health. */
export function Funnel({ overview }: { overview: Overview }) {
  const { at, open, oldestAcceptedAt, recent, process, counts } = overview;
  const { dead = 0 } = counts;
  const from = String(recent.from);
  const seconds = (at - recent.from) / 1_000;
  const received = recent.accepted + recent.rejected + recent.duplicate;
  return (
    <>
      <Figures title={`Last ${recent.minutes} minutes`}>
        <Figure name="Received" note={toRate(received, seconds)}>
          <CountLink count={received} href={hrefOf('deliveries', { from })} />
        </Figure>
        <Figure
          name="Refused"
          note={recent.rejected > 0 ? 'with the reasons, by source' : 'no reasons to show'}
          isBad={recent.rejected > 0}
        >
          <CountLink count={recent.rejected} href={hrefOf('sources')} />
        </Figure>
        <Figure name="Repeated" note="not sent again">
          <CountLink count={recent.duplicate} href={hrefOf('live', { kind: 'duplicate' })} />
        </Figure>
        <Figure name="Routed" note="deliveries, one for each destination">
          <CountLink count={recent.routed} href={hrefOf('deliveries', { from })} />
        </Figure>
        <Figure name="Delivered" note={toRate(recent.delivered, seconds)}>
          <CountLink count={recent.delivered} href={hrefOf('deliveries', { from, state: 'delivered' })} />
        </Figure>
        <Figure name="Failed attempts" note={toRate(recent.failed, seconds)} isBad={recent.failed > 0}>
          <CountLink count={recent.failed} href={hrefOf('destinations', { sort: 'failures' })} />
        </Figure>
      </Figures>
      <Figures title="Now">
        <Figure name="To deliver" note={oldestNote(oldestAcceptedAt, at)}>
          <CountLink count={open} href={hrefOf('destinations', { sort: 'backlog' })} />
        </Figure>
        <Figure
          name="Dead"
          note={`${recent.dead.toLocaleString()} died in the last ${recent.minutes} minutes`}
          isBad={dead > 0}
        >
          <CountLink count={dead} href={hrefOf('dead')} />
        </Figure>
        <Figure name="Attempt duration, p95" note={latencyNote(overview)}>
          <Duration ms={recent.latest?.p95} />
        </Figure>
        {process.lostBeforeIngest > 0 && (
          <Figure
            name="Lost before ingest"
            note={`by this process, since it started ${toDuration(process.uptime * 1_000)} ago`}
            isBad
          >
            {process.lostBeforeIngest.toLocaleString()}
          </Figure>
        )}
      </Figures>
    </>
  );
}

function Figures({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="keyset">
      <h2>{title}</h2>
      <dl class="figures">{children}</dl>
    </section>
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

function toRate(count: number, seconds: number): string {
  const rate = count / seconds;
  return `${rate.toLocaleString(undefined, { maximumFractionDigits: rate < 10 ? 2 : 0 })} per second`;
}
