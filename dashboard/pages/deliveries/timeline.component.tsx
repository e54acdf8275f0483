import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Attempts } from './attempts.component.js';
import { hrefOf } from '../../shell/hash.router.js';
import type { Delivery } from './delivery.answer.js';
import { DeliveryEnd } from './delivery-end.component.js';
import { originOf } from './message-origin.js';
import { Routing } from './routing.component.js';
import { Step } from './step.component.js';

/** What happened to a delivery, in order. */
export function Timeline({ delivery }: { delivery: Delivery }) {
  const { path, library, recordedAt } = originOf(delivery.body);
  return (
    <section class="panel">
      <h2>What happened</h2>
      <ol class="timeline">
        {recordedAt !== undefined && (
          <Step title="Recorded" at={recordedAt}>
            <p class="hint">
              By the sender's clock
              {delivery.recordedBy !== undefined && (
                <>
                  , in <PlainText value={delivery.recordedBy} />
                </>
              )}
              {delivery.release !== undefined && (
                <>
                  , by release{' '}
                  <PlainText value={delivery.release} href={hrefOf('deliveries', { release: delivery.release })} />
                </>
              )}
              {path !== undefined && (
                <>
                  , at <PlainText value={path} />
                </>
              )}
              {library !== undefined && (
                <>
                  , with <PlainText value={library} max={80} />
                </>
              )}
              .
            </p>
          </Step>
        )}
        <Step title="Accepted" at={delivery.acceptedAt}>
          <p>
            From the source <NameLink of="sources" name={delivery.source} />.
          </p>
        </Step>
        <Routing delivery={delivery} />
        <Attempts delivery={delivery} />
        <DeliveryEnd delivery={delivery} />
      </ol>
    </section>
  );
}
