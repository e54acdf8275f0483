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
import { hrefOf } from '../../shell/hash.router.js';

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
          <h2>{toCount(explanation)}</h2>
          {destinations.length === 0 && <EmptyState title="No destination takes messages of this source." />}
          {destinations.map((destination, index) => (
            <DestinationView
              key={destination.destination}
              explained={destination}
              body={body}
              messageId={messageId}
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
export function toSummary(explanation: Explanation): string {
  const { accepted, fault } = explanation;
  return accepted ? `Accepted. ${toCount(explanation)}.` : `Refused: ${fault?.message ?? ''}.`;
}

function toCount({ destinations, left }: Explanation): string {
  const sent = destinations.filter(({ request, hold }) => request && !request.note && hold !== 'endpoint_disabled');
  const repeated = sent.filter((destination) => destination.repeated);
  const isPart = left > 0 && destinations.every(({ selected }) => selected);
  const count = countOf(sent.length - repeated.length, 'destination gets it', 'destinations get it');
  const text = isPart ? `At least ${count}` : count;
  if (repeated.length === 0) return text;
  return `${text}; ${countOf(repeated.length, 'has', 'have')} a message with this id already`;
}

const toText = (value: string | undefined) => (value ? <PlainText value={value} max={1_000} /> : undefined);

interface RequestViewProps {
  explained: DestinationExplanation;
  /** What destinations without a transform are sent. */
  body: string | undefined;
  messageId: string | undefined;
}

interface DestinationViewProps extends RequestViewProps {
  isOpenAtFirst: boolean;
}

/** Renders its content only while open, because 100 bodies would be slow. */
function DestinationView({ isOpenAtFirst, ...view }: DestinationViewProps) {
  const { explained } = view;
  const { destination, reason } = explained;
  const [isOpen, setOpen] = useState(isOpenAtFirst && explained.selected);
  return (
    <details class="panel" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <PlainText value={destination} /> <StateBadge {...toBadge(explained)} />
        {reason && <span class="hint"> The destination {ROUTE_REASONS[reason]}.</span>}
        {explained.repeated && <span class="hint"> A message with this id has been accepted for it.</span>}
      </summary>
      {isOpen && <RequestView {...view} />}
    </details>
  );
}

function toBadge({ selected, repeated, hold, request }: DestinationExplanation): { state: string; label: string } {
  if (!selected) return { state: 'none', label: 'does not get it' };
  if (repeated) return { state: 'duplicate', label: 'not sent again' };
  if (hold === 'endpoint_disabled') return { state: 'dead', label: 'endpoint disabled: becomes dead' };
  if (request?.note !== undefined) return { state: 'waiting', label: 'selected, but nothing is sent' };
  if (hold === 'endpoint_paused') return { state: 'waiting', label: 'gets it once its tenant resumes it' };
  return hold === 'paused'
    ? { state: 'waiting', label: 'gets it once resumed' }
    : { state: 'delivered', label: 'gets it' };
}

function RequestView({ explained, body, messageId }: RequestViewProps) {
  const { destination, request, reason, repeated } = explained;
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
          [
            'Accepted before',
            repeated && (
              <a href={hrefOf('deliveries', { destination, messageId })}>the delivery with this message id</a>
            ),
          ],
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
