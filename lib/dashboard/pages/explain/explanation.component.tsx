import { useState } from 'preact/hooks';

import type { DestinationExplanation, Explanation } from '../../../webhook-destination/message.explainer.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { JsonView } from '../../components/json-view.component.js';
import { MaskedValue } from '../../components/masked-value.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { StateBadge } from '../../components/state-badge.component.js';

const REASONS = {
  disabled: 'The destination is disabled.',
  source: 'The destination gets no messages from this source.',
  type: 'The destination gets no messages of this type.',
  event: 'The event name does not match the destination’s event patterns.',
  integrations: 'The message’s integrations exclude the destination.',
};

/** How the API masks a value. */
const MASK = '***';

/** Whether the message is accepted, and what each destination would be sent. */
export function ExplanationView({ explanation }: { explanation: Explanation }) {
  const { accepted, fault, messageId, source, destinations, left } = explanation;
  return (
    <div class="explanation">
      <section class="panel" aria-label="Acceptance">
        <h2>
          <StateBadge state={accepted ? 'accepted' : 'rejected'} />
        </h2>
        <dl class="facts">
          {fault && <Fact name="Why">{fault.message}</Fact>}
          {fault?.field && <Fact name="Field">{fault.field}</Fact>}
          {fault && <Fact name="Code">{fault.code}</Fact>}
          {source && <Fact name="Source">{source}</Fact>}
          {messageId && <Fact name="Message id">{messageId}</Fact>}
        </dl>
      </section>
      {accepted && (
        <section class="explanation" aria-label="Destinations">
          <h2>{countOf(destinations)}</h2>
          {destinations.length === 0 && <EmptyState title="The relay has no destinations." />}
          {destinations.map((destination, index) => (
            <DestinationView key={destination.destination} explained={destination} isOpenAtFirst={index === 0} />
          ))}
          {left > 0 && <p class="hint">{left.toLocaleString()} more destinations are not shown.</p>}
        </section>
      )}
    </div>
  );
}

/** Returns the outcome as a sentence. */
export function toSummary({ accepted, fault, destinations }: Explanation): string {
  return accepted ? `Accepted. ${countOf(destinations)}.` : `Rejected: ${fault?.message ?? ''}.`;
}

function countOf(destinations: DestinationExplanation[]): string {
  const count = destinations.filter(({ request }) => request?.body !== undefined).length;
  return count === 1 ? '1 destination gets it' : `${count.toLocaleString()} destinations get it`;
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <PlainText value={children} max={1_000} />
      </dd>
    </>
  );
}

interface DestinationViewProps {
  explained: DestinationExplanation;
  isOpenAtFirst: boolean;
}

/** Renders its content only while open, because 200 bodies would be slow. */
function DestinationView({ explained, isOpenAtFirst }: DestinationViewProps) {
  const { destination, selected, reason, request } = explained;
  const [isOpen, setOpen] = useState(isOpenAtFirst && selected);
  return (
    <details class="panel" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <PlainText value={destination} /> <StateBadge {...toBadge(selected, request)} />
        {reason && <span class="hint"> {REASONS[reason]}</span>}
      </summary>
      {isOpen && <RequestView explained={explained} />}
    </details>
  );
}

function toBadge(selected: boolean, request: DestinationExplanation['request']): { state: string; label: string } {
  if (!selected) return { state: 'none', label: 'does not get it' };
  return request?.body === undefined
    ? { state: 'waiting', label: 'selected, but nothing is sent' }
    : { state: 'delivered', label: 'gets it' };
}

function RequestView({ explained: { request, reason } }: { explained: DestinationExplanation }) {
  if (!request) return <p>{reason && REASONS[reason]}</p>;
  return (
    <div class="explanation">
      <dl class="facts">
        <dt>{request.urls.length === 1 ? 'URL' : 'URLs'}</dt>
        <dd>
          {request.urls.map((url) => (
            <p key={url} class="mono">
              <PlainText value={url} max={2_000} />
            </p>
          ))}
        </dd>
        {request.note && <Fact name="Not sent">{request.note}</Fact>}
        {Object.entries(request.headers).map(([name, value]) => (
          <>
            <dt key={name} class="mono">
              {name}
            </dt>
            <dd class="mono">{value === MASK ? <MaskedValue /> : <PlainText value={value} max={2_000} />}</dd>
          </>
        ))}
      </dl>
      {request.body !== undefined && <JsonView name="Body" text={request.body} />}
    </div>
  );
}
