import { CopyButton } from '../../components/copy-button.component.js';
import { Facts } from '../../components/facts.component.js';
import { JsonView } from '../../components/json-view.component.js';
import { headerFacts } from '../../components/masked-value.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { toCurl } from './curl.command.js';
import type { Delivery } from './delivery.answer.js';

/** The body, and the request that carries it. */
export function DeliveryRequest({ delivery }: { delivery: Delivery }) {
  const { body, request } = delivery;
  return (
    <section class="panel">
      <h2>Request</h2>
      {request ? (
        <>
          <ul class="receivers" aria-label="URLs">
            {request.urls.map((url) => (
              <li key={url} class="spread">
                <span class="mono">
                  <PlainText value={url} max={500} />
                </span>
                {request.note === undefined && (
                  <CopyButton what="Command" text={() => toCurl(url, { body, ...request })}>
                    Copy as curl
                  </CopyButton>
                )}
              </li>
            ))}
          </ul>
          {request.note !== undefined && (
            <p class="warn-text">
              Nothing would be sent: <PlainText value={request.note} max={1_000} />
            </p>
          )}
          <Facts facts={headerFacts(request.headers)} />
          <p class="hint">
            Based on the current options. Secrets and the values of your own headers are hidden
            {request.note === undefined && '; the command has placeholders for them'}. User info and query are removed
            from URLs.
          </p>
        </>
      ) : (
        <p class="hint">The destination is no longer in use, so its URLs and headers are unknown.</p>
      )}
      <JsonView name="Body" text={body} />
      {request?.body !== undefined && <JsonView name="Body after the destination's transform" text={request.body} />}
    </section>
  );
}
