import { type Fact, Facts } from '../../components/facts.component.js';
import { MaskedValue } from '../../components/masked-value.component.js';
import { NameLink } from '../../components/name-link.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { TextList } from '../../components/text-list.component.js';
import { Time, toDuration } from '../../components/time.component.js';
import type { Destination } from './destination.answer.js';

const RETRIES = {
  spec: 'after timeouts, connection faults, 5xx, 408, 425, 429',
  'any-failure': 'after every answer but 2xx',
};

/** The options of a destination. */
export function DestinationOptions({ destination }: { destination: Destination }) {
  const { urls, headers, integration, sources, types, events, rateLimit, concurrency } = destination;
  const { retryOn, retryWindow, signed, publicKey, standardWebhooks, transformed, propagateTrace } = destination;
  const { tenant, metadata, createdAt, updatedAt } = destination;
  const names = Object.keys(metadata);
  const facts: Fact[] = [
    ['Tenant', tenant === undefined ? undefined : <PlainText value={tenant} max={500} />],
    ['URLs', <TextList values={urls} max={2_000} />],
    ['Secret', signed ? <MaskedValue /> : 'none: requests are not signed'],
    ['Public key', publicKey && <PlainText value={publicKey} />],
    [
      'Standard Webhooks',
      standardWebhooks === undefined ? 'if the secret is long enough' : standardWebhooks ? 'yes' : 'no',
    ],
    ['Headers', headers.length > 0 ? <TextList values={headers} after={() => <MaskedValue />} /> : 'none'],
    ['Sources', sources ? <SourceNames names={sources} /> : 'all'],
    ['Types', types ? types.join(', ') : 'all'],
    ['Events', events ? <TextList values={events} max={2_000} /> : 'all'],
    ['Integration', integration === undefined ? 'its name' : <PlainText value={integration} />],
    ['Rate limit', rateLimit ? `${rateLimit.requests} requests in ${toDuration(rateLimit.per)}, per process` : 'none'],
    ['Concurrency', concurrency ?? "as set in the relay's options"],
    ['Retries', retryOn ? RETRIES[retryOn] : "as set in the relay's options"],
    ['Retry window', retryWindow ? toDuration(retryWindow) : "as set in the relay's options"],
    ['Body', transformed ? 'made by a transform in code' : 'as accepted'],
    ['Trace', propagateTrace ? 'sent to this receiver' : 'not sent'],
    [
      'Metadata',
      names.length > 0 ? (
        <TextList values={names} after={(name) => <PlainText value={metadata[name]} max={500} />} />
      ) : (
        'none'
      ),
    ],
    ['Created', createdAt && <Time at={createdAt} />],
    ['Changed', updatedAt && <Time at={updatedAt} />],
  ];
  return (
    <section class="panel">
      <h2>Options</h2>
      <Facts facts={facts} />
    </section>
  );
}

function SourceNames({ names }: { names: string[] }) {
  return (
    <ul>
      {names.map((name) => (
        <li key={name}>
          <NameLink of="sources" name={name} max={2_000} />
        </li>
      ))}
    </ul>
  );
}
