import { useState } from 'preact/hooks';

import type { DestinationExplanation, Explanation } from '../../../lib/webhook-destination/message.explainer.js';
import { countOf } from '../../components/count.util.js';
import { EmptyState } from '../../components/empty-state.component.js';
import { Facts } from '../../components/facts.component.js';
import { JsonView } from '../../components/json-view.component.js';
import { headerFacts } from '../../components/masked-value.component.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { ROUTE_REASONS } from '../../components/route-reasons.js';
import { StateBadge } from '../../components/state-badge.component.js';
import { Unlisted } from '../../components/unlisted.component.js';

/** Whether the message is accepted, and what each destination would be sent. */
export function ExplanationView({ explanation }: { explanation: Explanation }) {
  const { accepted, fault, messageId, source, body, destinations, left, ofOtherSources } = explanation;
  return (
    <div class="explanation">
      <section class="panel" aria-label="Acceptance">
        <h2>{accepted ? <StateBadge state="accepted" /> : <StateBadge state="rejected" label="refused" />}</h2>
        <Facts
          facts={[
            ['Why', toText(fault?.message)],
            ['Field', toText(fault?.field)],
            ['Code', toText(fault?.code)],
            ['Source', source && <NameLink of="sources" name={source} max={200} />],
            ['Message id', toText(messageId)],
          ]}
        />
      </section>
      {accepted && (
        <section class="explanation" aria-label="Destinations">
          <h2>{toCount(destinations)}</h2>
          {destinations.length === 0 && <EmptyState title="No destination takes messages of this source." />}
          {destinations.map((destination, index) => (
            <DestinationView
              key={destination.destination}
              explained={destination}
              body={body}
              isOpenAtFirst={index === 0}
            />
          ))}
          <Unlisted left={left} ofOtherSources={ofOtherSources} />
        </section>
      )}
    </div>
  );
}

/** Returns the outcome as a sentence. */
export function toSummary({ accepted, fault, destinations }: Explanation): string {
  return accepted ? `Accepted. ${toCount(destinations)}.` : `Refused: ${fault?.message ?? ''}.`;
}

function toCount(destinations: DestinationExplanation[]): string {
  const sent = destinations.filter(({ request }) => request && request.note === undefined);
  const repeated = sent.filter((destination) => destination.repeated);
  const text = countOf(sent.length - repeated.length, 'destination gets it', 'destinations get it');
  if (repeated.length === 0) return text;
  return `${text}, ${countOf(repeated.length, 'destination is', 'destinations are')} not sent it again`;
}

const toText = (value: string | undefined) => (value ? <PlainText value={value} max={1_000} /> : undefined);

interface RequestViewProps {
  explained: DestinationExplanation;
  /** What destinations without a transform are sent. */
  body: string | undefined;
}

interface DestinationViewProps extends RequestViewProps {
  isOpenAtFirst: boolean;
}

/** Renders its content only while open, because 100 bodies would be slow. */
function DestinationView({ explained, body, isOpenAtFirst }: DestinationViewProps) {
  const { destination, reason } = explained;
  const [isOpen, setOpen] = useState(isOpenAtFirst && explained.selected);
  return (
    <details class="panel" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <PlainText value={destination} /> <StateBadge {...toBadge(explained)} />
        {reason && <span class="hint"> The destination {ROUTE_REASONS[reason]}.</span>}
        {explained.repeated && <span class="hint"> A message with this id has been accepted for it.</span>}
      </summary>
      {isOpen && <RequestView explained={explained} body={body} />}
    </details>
  );
}

function toBadge({ selected, repeated, request }: DestinationExplanation): { state: string; label: string } {
  if (!selected) return { state: 'none', label: 'does not get it' };
  if (repeated) return { state: 'duplicate', label: 'not sent again' };
  return request?.note !== undefined
    ? { state: 'waiting', label: 'selected, but nothing is sent' }
    : { state: 'delivered', label: 'gets it' };
}

function RequestView({ explained: { destination, request, reason }, body }: RequestViewProps) {
  const sent = request?.note === undefined ? (request?.body ?? body) : undefined;
  const link = <NameLink of="destinations" name={destination} max={200} />;
  if (!request) {
    return (
      <p>
        {link} {reason && ROUTE_REASONS[reason]}.
      </p>
    );
  }
  return (
    <div class="explanation">
      <Facts
        facts={[
          ['Destination', link],
          [request.urls.length === 1 ? 'URL' : 'URLs', <Urls urls={request.urls} />],
          ['Not sent', toText(request.note)],
          ...headerFacts(request.headers, 2_000),
        ]}
      />
      {sent !== undefined && <JsonView name="Body" text={sent} />}
    </div>
  );
}

function Urls({ urls }: { urls: string[] }) {
  return urls.map((url) => (
    <p key={url} class="mono">
      <PlainText value={url} max={2_000} />
    </p>
  ));
}
