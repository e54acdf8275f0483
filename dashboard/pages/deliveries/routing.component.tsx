import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { ROUTE_REASONS } from '../../components/route-reasons.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { Delivery } from './delivery.answer.js';
import { Unlisted } from '../../components/unlisted.component.js';
import { Step } from './step.component.js';

/** Why the destination gets the message, and which other destinations' options select it. */
export function Routing({ delivery }: { delivery: Delivery }) {
  const { destination, routing, left, ofOtherSources, request, type, messageId, source } = delivery;
  const own = routing.find((entry) => entry.destination === destination);
  const others = routing.filter((entry) => entry !== own);
  const reason = own?.reason;
  return (
    <Step title="Routed">
      <p>
        To {request ? <NameLink of="destinations" name={destination} /> : <PlainText value={destination} max={60} />}
        {type === 'delete' && ", as a notification that the user's data was deleted"}.
        {own?.selected && ' Its options select this message.'}
      </p>
      {!request && <p class="warn-text">This destination is no longer in use.</p>}
      {reason && (
        <p class="warn-text">With the current options, it would not get this message: it {ROUTE_REASONS[reason]}.</p>
      )}
      {others.length + ofOtherSources > 0 && (
        <details>
          <summary>
            Other destinations, with the current options ({(others.length + left + ofOtherSources).toLocaleString()})
          </summary>
          <ul class="others">
            {others.map((other) => (
              <li key={other.destination}>
                <NameLink of="destinations" name={other.destination} max={80} />:{' '}
                {other.reason ? (
                  `no, it ${ROUTE_REASONS[other.reason]}`
                ) : (
                  <>
                    yes,{' '}
                    <a href={hrefOf('deliveries', { messageId, source, destination: other.destination })}>
                      its delivery
                    </a>
                  </>
                )}
              </li>
            ))}
          </ul>
          <Unlisted left={left} ofOtherSources={ofOtherSources} />
          <p class="hint">The message's integrations, which are not stored, may have excluded destinations.</p>
        </details>
      )}
    </Step>
  );
}
