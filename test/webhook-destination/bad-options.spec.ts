import { X509Certificate } from 'node:crypto';

import { Test } from '@nestjs/testing';
import {
  memoryQueue,
  sqliteQueue,
  WebhookDestinationModule,
  type WebhookDestinationModuleOptions,
} from 'nestjs-analytics-relay';
import { beforeAll, describe, expect, it } from 'vitest';

import { type Certificates, createCertificates } from '../support/certificates.js';

const source = { name: 'shop', writeKey: 'wk_shop' };
const url = 'https://receiver.example/hook';

/** Compiles an application with these options; resolves with the error that stops it. */
async function boot(options: unknown): Promise<string | undefined> {
  try {
    const testing = await Test.createTestingModule({
      imports: [WebhookDestinationModule.forRoot(options as WebhookDestinationModuleOptions)],
    }).compile();
    await testing.close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

it('are named by the field of the error as well', async () => {
  const options = { sources: [source], destinations: [{ urls: [url] }], delivery: { timeout: -1 } };
  const testing = Test.createTestingModule({ imports: [WebhookDestinationModule.forRoot(options)] });
  await expect(testing.compile()).rejects.toMatchObject({ code: 'options_invalid', field: 'delivery.timeout' });
});

const standardSecret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;

const privateSecret = (bytes: number) => `whsk_${Buffer.alloc(bytes, 7).toString('base64')}`;

const withDestination = (fields: object) => ({ sources: [source], destinations: [{ urls: [url], ...fields }] });
const withDelivery = (delivery: unknown) => ({ sources: [source], destinations: [{ urls: [url] }], delivery });
const withUrl = (given: unknown) => withDestination({ urls: [given] });
const withHeader = (name: string, value: unknown = 'x') => withDestination({ headers: { [name]: value } });

const NOT_PUBLIC = 'destinations[0].urls[0] must not be a private or local address';
const NO_URL = 'destinations[0].urls must contain only http or https URLs';
const HEADERS = 'destinations[0].headers must map header names to strings without line breaks';
const TWICE = 'destinations[0].headers must not contain a name twice in different case: x-env';
const RESERVED = 'destinations[0].headers must not include headers that the relay or the connection sets itself: ';

let certificates: Certificates;
beforeAll(() => {
  certificates = createCertificates();
});

const withTelemetry = (telemetry: unknown) => ({ sources: [source], destinations: [{ urls: [url] }], telemetry });
const methods = { send: () => undefined, enqueue: () => undefined, attempt: () => undefined };
const NO_TELEMETRY = 'telemetry must be what openTelemetry() returns, or another Telemetry';

const cases: [what: string, options: unknown, error: string][] = [
  ['no options', undefined, 'the options must be an object'],
  ['no sources', { destinations: [] }, 'sources must be an array'],
  ['no destinations', { sources: [] }, 'destinations must be an array'],
  ...[true, {}, { ...methods, attempt: undefined }, { ...methods, observe: 1 }, null].map(
    (telemetry): (typeof cases)[number] => [
      `the telemetry ${JSON.stringify(telemetry)}`,
      withTelemetry(telemetry),
      NO_TELEMETRY,
    ],
  ),
  ...[0, 1.5, '200', Infinity].map((maxMetricDestinations): (typeof cases)[number] => [
    `maxMetricDestinations ${maxMetricDestinations}`,
    { sources: [], destinations: [], maxMetricDestinations },
    'maxMetricDestinations must be a whole number above 0',
  ]),
  ['an option nobody knows', { sources: [], destinations: [], retries: 3 }, 'retries is not a known option'],
  ...['wk_shop', null, 7].map((given): (typeof cases)[number] => [
    `a source that is ${JSON.stringify(given)}`,
    { sources: [source, given], destinations: [] },
    'WebhookDestinationModule: sources[1] must be an object { name, writeKey }',
  ]),
  [
    'a destination that is no object',
    { sources: [source], destinations: [url] },
    "WebhookDestinationModule: destinations[0] must be an object, such as { urls: ['https://receiver.example/hook'] }",
  ],
  ['sources that are no array', { sources: 'wk_shop', destinations: [] }, 'Module: sources must be an array'],
  ['a source in place of the sources', { sources: source, destinations: [] }, 'Module: sources must be an array'],
  ['a source without a key', { sources: [{ name: 'shop' }], destinations: [] }, 'sources[0].writeKey must be'],
  ...['wk:shop', 'wk shop', 'wk_shop\n', ''].map((writeKey): (typeof cases)[number] => [
    `the key ${JSON.stringify(writeKey)}`,
    { sources: [{ name: 'shop', writeKey }], destinations: [] },
    'sources[0].writeKey must be a non-empty string without colons or white space',
  ]),
  [
    'a source with a long name',
    { sources: [{ ...source, name: 'n'.repeat(501) }], destinations: [] },
    'sources[0].name must be a non-empty string of at most 500 characters',
  ],
  ...['a\0', 'a\ud800'].flatMap((name): typeof cases => [
    [
      `a source named ${JSON.stringify(name)}`,
      { sources: [{ ...source, name }], destinations: [] },
      'sources[0].name must be a non-empty string of at most 500 characters, without NUL characters or lone surrogates',
    ],
    [
      `a destination named ${JSON.stringify(name)}`,
      withDestination({ name }),
      'destinations[0].name must be a non-empty string other than All, of at most 500 characters, without NUL',
    ],
  ]),
  ['a source with an empty name', { sources: [{ ...source, name: '' }], destinations: [] }, 'sources[0].name must be'],
  [
    'one destination of many with a fault',
    {
      sources: [source],
      destinations: ['a', 'b', 'c'].map((name) => ({ name, urls: [url], ...(name === 'b' && { concurrency: 0 }) })),
    },
    'WebhookDestinationModule: destinations[1].concurrency must be a whole number above 0',
  ],
  [
    'two sources of one name',
    { sources: [source, { ...source, writeKey: 'other' }], destinations: [] },
    'sources[1].name must differ',
  ],
  [
    'two sources of one key',
    { sources: [source, { ...source, name: 'other' }], destinations: [] },
    'sources[1].writeKey must differ',
  ],
  [
    'two destinations of one name',
    { sources: [source], destinations: [{ urls: [url] }, { urls: [url] }] },
    'destinations[1].name must differ',
  ],
  ...[
    'properties.orderId',
    ['orderId'],
    ['properties'],
    ['userId'],
    ['properties.a', 'properties.a'],
    [1],
    'abcdefghi'.split('').map((name) => `traits.${name}`),
  ].map((fields): (typeof cases)[number] => [
    `the searched fields ${JSON.stringify(fields)}`,
    { sources: [], destinations: [], search: { fields: fields as never } },
    'search.fields must be an array of at most 8 different paths of fields',
  ]),
  ...[{ by: 'ip' }, { per: 'address' }, { limit: 0 }].map((fields): (typeof cases)[number] => [
    `the rate limit ${JSON.stringify(fields)}`,
    { sources: [], destinations: [], ingest: { rateLimit: { limit: 10, ttl: 1_000, ...fields } } },
    'ingest.rateLimit must be { limit, ttl, by? }, where limit is a whole number above 0, ttl is a number of milliseconds',
  ]),
  [
    'a client address that is no function',
    { sources: [], destinations: [], ingest: { clientAddress: 'x-forwarded-for' } },
    'ingest.clientAddress must be a function',
  ],
  ...['stored', {}, { useClass: 'Kept' }, { useValue: {} }, { useValue: { load() {} }, inject: [] }].map(
    (registry): (typeof cases)[number] => [
      `the registry ${JSON.stringify(registry)}`,
      { registry },
      "registry must be 'store', or one of { useValue }, { useExisting }, { useClass } and { useFactory, inject }",
    ],
  ),
  ...['fifteen letters', [], ['a secret of the registry', ''], undefined].map(
    (registrySecret): (typeof cases)[number] => [
      `the registry secret ${JSON.stringify(registrySecret)}`,
      { registry: 'store', registrySecret },
      'registrySecret must be a secret of 16 or more characters, or an array of different secrets of that length',
    ],
  ),
  [
    'a registry secret without a registry',
    { sources: [], destinations: [], registrySecret: 'a secret of the registry' },
    "registrySecret requires registry: 'store'",
  ],
  ...(
    [
      [{}, 'portal.secret must be a string of at least 32 bytes'],
      [{ secret: 'short' }, 'portal.secret must be a string of at least 32 bytes'],
      [{ tenant: 'description' }, 'portal.tenant must be a string of 1 to 40 characters other than description'],
      [{ tenant: '' }, 'portal.tenant must be a string of 1 to 40 characters'],
      [{ limits: { endpoints: 0 } }, 'portal.limits must be { endpoints, rateLimit }'],
      [{ embed: ['https://app.example/path'] }, 'portal.embed must be an array of http or https origins'],
      [{ brand: { name: '' } }, 'portal.brand must be { name, logo, accent }'],
      [{ brand: { name: 'x', logo: 'javascript:1' } }, 'portal.brand must be { name, logo, accent }'],
      [{ operator: 'none' }, 'portal.operator must name a destination of this module; "none" is not declared'],
      [{ pages: true }, 'portal.pages is not a known option'],
    ] as [object, string][]
  ).map(([portal, rule], index): (typeof cases)[number] => [
    `the portal ${JSON.stringify(portal)}`,
    { registry: 'store', portal: { ...(index > 0 && { secret: 'x'.repeat(32) }), ...portal } as never },
    rule,
  ]),
  [
    'a portal without a registry',
    { sources: [], destinations: [], portal: { secret: 'x'.repeat(32) } },
    "portal requires registry: 'store'",
  ],
  [
    'metadata of a source that are not texts',
    { sources: [{ ...source, metadata: { tenant: 7 } as never }], destinations: [] },
    'sources[0].metadata must map at most 50 names of 1 to 40 characters to strings of at most 500 characters',
  ],
  [
    'an unknown place of ingest',
    { sources: [], destinations: [], ingest: { before: 'guards' } },
    "ingest.before must be 'middleware' or 'router'",
  ],
  ['an unknown mode', { sources: [], destinations: [], mode: 'both' }, "mode must be 'all', 'ingest' or 'deliver'"],
  [
    'half of the work with a queue of one process',
    { sources: [], destinations: [], mode: 'ingest' },
    "mode must be 'all' with an embedded queue; 'ingest' and 'deliver' need a shared queue",
  ],
  ['an empty destination name', withDestination({ name: '' }), 'destinations[0].name must be'],
  ['a destination with a long name', withDestination({ name: 'n'.repeat(501) }), 'All, of at most 500 characters'],
  ['a destination named All', withDestination({ name: 'All' }), 'destinations[0].name must be'],
  [
    'an unknown source',
    withDestination({ sources: ['nowhere'] }),
    'sources must name sources of this module; "nowhere" is not declared',
  ],
  ['sources that are no array', withDestination({ sources: 'shop' }), 'destinations[0].sources must be'],
  ['an empty list of sources', withDestination({ sources: [] }), 'destinations[0].sources must be'],
  ['an unknown type', withDestination({ types: ['track', 'click'] }), 'destinations[0].types must be'],
  ['a type of other case', withDestination({ types: ['Track'] }), 'destinations[0].types must be'],
  ['an inherited name as type', withDestination({ types: ['constructor'] }), 'destinations[0].types must be'],
  ['an empty list of types', withDestination({ types: [] }), 'destinations[0].types must be'],
  ['enabled that is no boolean', withDestination({ enabled: 'yes' }), 'destinations[0].enabled must be true or false'],
  ...[undefined, url].map((urls): [string, object, string] => [
    `${urls ? 'a URL' : 'nothing'} in place of an array of URLs`,
    withDestination({ urls }),
    'destinations[0].urls must be an array of http or https URLs',
  ]),
  ['an empty list of URLs', withDestination({ urls: [] }), 'destinations[0].urls must contain 1 to 5 URLs'],
  [
    'six URLs',
    withDestination({ urls: [1, 2, 3, 4, 5, 6].map((n) => `${url}${n}`) }),
    'destinations[0].urls must contain 1 to 5 URLs',
  ],
  ['a URL twice', withDestination({ urls: [url, url] }), 'destinations[0].urls must not contain the same URL twice'],
  ['an empty secret', withDestination({ sharedSecret: '' }), 'destinations[0].sharedSecret must be'],
  ...['secret\n', ' secret', 'secret ', '"secret"', "'secret", 'secret`'].map(
    (sharedSecret): (typeof cases)[number] => [
      `a secret with white space or a quote at an end: ${JSON.stringify(sharedSecret)}`,
      withDestination({ sharedSecret }),
      'destinations[0].sharedSecret must be a non-empty string without white space or a quote at an end',
    ],
  ),
  ['no secret in the list', withDestination({ sharedSecret: [] }), 'destinations[0].sharedSecret must be'],
  ['one secret in the list', withDestination({ sharedSecret: ['a'] }), 'destinations[0].sharedSecret must be'],
  ['three secrets', withDestination({ sharedSecret: ['a', 'b', 'c'] }), 'destinations[0].sharedSecret must be'],
  ['one secret twice', withDestination({ sharedSecret: ['a', 'a'] }), 'destinations[0].sharedSecret must be'],
  ['a secret that is no string', withDestination({ sharedSecret: 42 }), 'destinations[0].sharedSecret must be'],
  ['whsec_ alone', withDestination({ sharedSecret: 'whsec_' }), 'after whsec_, base64 of at least 24 bytes'],
  ['whsec_ and no base64', withDestination({ sharedSecret: `whsec_${'-'.repeat(40)}` }), 'sharedSecret must be'],
  ['whsec_ and 23 bytes', withDestination({ sharedSecret: standardSecret(23) }), 'sharedSecret must be'],
  [
    'a previous whsec_ of 23 bytes',
    withDestination({ sharedSecret: ['a', standardSecret(23)] }),
    'sharedSecret must be',
  ],
  ['whsk_ alone', withDestination({ sharedSecret: 'whsk_' }), 'after whsk_, of an Ed25519 private key'],
  ['whsk_ and 31 bytes', withDestination({ sharedSecret: privateSecret(31) }), 'sharedSecret must be'],
  ['whsk_ with another public key', withDestination({ sharedSecret: privateSecret(64) }), 'sharedSecret must be'],
  ['a public key', withDestination({ sharedSecret: `whpk_${standardSecret(32).slice(6)}` }), 'not whpk_, which is'],
  ['a previous public key', withDestination({ sharedSecret: ['a', 'whpk_'] }), 'sharedSecret must be'],
  [
    'a private key without Standard Webhooks',
    withDestination({ sharedSecret: ['a', privateSecret(32)], standardWebhooks: false }),
    'destinations[0].standardWebhooks must not be false with a whsk_ sharedSecret',
  ],
  [
    'a short secret for Standard Webhooks',
    withDestination({ sharedSecret: ['a secret of 24 bytes ...', 'a shorter secret'], standardWebhooks: true }),
    'destinations[0].sharedSecret must have at least 24 bytes when standardWebhooks is true',
  ],
  [
    'standardWebhooks unsigned',
    withDestination({ standardWebhooks: true }),
    'standardWebhooks requires a sharedSecret',
  ],
  ['standardWebhooks no boolean', withDestination({ standardWebhooks: 1 }), 'standardWebhooks must be true or false'],

  ['a URL that is no string', withUrl(42), NO_URL],
  ['an empty URL', withUrl(''), NO_URL],
  ['a relative URL', withUrl('/hook'), NO_URL],
  ['a URL without a scheme', withUrl('receiver.example/hook'), NO_URL],
  ['a file', withUrl('file:///etc/passwd'), NO_URL],
  ['an ftp URL', withUrl('ftp://receiver.example/'), NO_URL],
  ['a script', withUrl('javascript:alert(1)'), NO_URL],
  ['a data URL', withUrl('data:text/plain,x'), NO_URL],
  ['gopher', withUrl('gopher://127.0.0.1:6379/_FLUSHALL'), NO_URL],
  ['a URL without a host', withUrl('http:///hook'), NO_URL],
  ['a URL with a backslash for a host', withUrl('http://\\receiver.example'), NO_URL],
  ['a URL with a line break', withUrl('https://receiver.example/\r\nHost: evil'), NO_URL],
  ['a URL with a tab in its host', withUrl('https://recei\tver.example/'), NO_URL],
  ['a URL with a space', withUrl('https://receiver.example/a b'), NO_URL],
  ['a port out of range', withUrl('https://receiver.example:65536/'), NO_URL],
  ['a malformed IPv6 address', withUrl('http://[::1'), NO_URL],
  [
    'a bare percent sign in user info',
    withUrl('https://user:100%sure@receiver.example/hook'),
    'destinations[0].urls must have user info that is percent-encoded: %25 for %',
  ],

  ['loopback', withUrl('http://127.0.0.1/'), NOT_PUBLIC],
  ['another loopback', withUrl('https://127.255.255.254:8443/'), NOT_PUBLIC],
  ['loopback in hexadecimal', withUrl('http://0x7f000001/'), NOT_PUBLIC],
  ['loopback as one number', withUrl('http://2130706433/'), NOT_PUBLIC],
  ['loopback in octal', withUrl('http://0177.0.0.1/'), NOT_PUBLIC],
  ['loopback shortened', withUrl('http://127.1/'), NOT_PUBLIC],
  ['loopback with a last dot', withUrl('http://127.0.0.1./'), NOT_PUBLIC],
  ['loopback percent-encoded', withUrl('http://%31%32%37.0.0.1/'), NOT_PUBLIC],
  ['loopback in full-width digits', withUrl('http://１２７.0.0.1/'), NOT_PUBLIC],
  ['loopback behind user info', withUrl('http://receiver.example@127.0.0.1/'), NOT_PUBLIC],
  ['the unspecified address', withUrl('http://0.0.0.0/'), NOT_PUBLIC],
  ['zero', withUrl('http://0/'), NOT_PUBLIC],
  ['IPv6 loopback', withUrl('http://[::1]/'), NOT_PUBLIC],
  ['IPv6 unspecified', withUrl('http://[::]/'), NOT_PUBLIC],
  ['mapped loopback', withUrl('http://[::ffff:127.0.0.1]/'), NOT_PUBLIC],
  ['mapped loopback in hexadecimal', withUrl('http://[::ffff:7f00:1]/'), NOT_PUBLIC],
  ['compatible loopback', withUrl('http://[::127.0.0.1]/'), NOT_PUBLIC],
  ['NAT64 of loopback', withUrl('http://[64:ff9b::7f00:1]/'), NOT_PUBLIC],
  ['6to4 of loopback', withUrl('http://[2002:7f00:1::]/'), NOT_PUBLIC],
  ['private 10/8', withUrl('https://10.1.2.3/'), NOT_PUBLIC],
  ['private 172.16/12', withUrl('https://172.31.255.255/'), NOT_PUBLIC],
  ['private 192.168/16', withUrl('https://192.168.0.1/'), NOT_PUBLIC],
  ['CGNAT', withUrl('https://100.64.0.1/'), NOT_PUBLIC],
  ['cloud metadata', withUrl('http://169.254.169.254/latest/meta-data/'), NOT_PUBLIC],
  ['cloud metadata, IPv6', withUrl('http://[fd00:ec2::254]/'), NOT_PUBLIC],
  ['link-local IPv6', withUrl('http://[fe80::1]/'), NOT_PUBLIC],
  ['multicast', withUrl('http://224.0.0.1/'), NOT_PUBLIC],
  ['broadcast', withUrl('http://255.255.255.255/'), NOT_PUBLIC],
  ['localhost', withUrl('http://localhost:4200/hook'), NOT_PUBLIC],
  ['localhost in capitals, with a last dot', withUrl('http://LOCALHOST./hook'), NOT_PUBLIC],
  ['a name below localhost', withUrl('http://shop.localhost:4200/hook'), NOT_PUBLIC],
  [
    'an address outside the allowed networks',
    { ...withUrl('http://10.0.1.1/'), delivery: { allowedNetworks: ['10.0.0.0/24'] } },
    NOT_PUBLIC,
  ],

  ['the header Host', withHeader('Host'), `${RESERVED}Host`],
  ['the header content-length', withHeader('content-length', '0'), `${RESERVED}content-length`],
  ['the header Transfer-Encoding', withHeader('Transfer-Encoding', 'chunked'), `${RESERVED}Transfer-Encoding`],
  ['the header Connection', withHeader('Connection', 'close'), `${RESERVED}Connection`],
  ['the header CONTENT-TYPE', withHeader('CONTENT-TYPE', 'text/plain'), `${RESERVED}CONTENT-TYPE`],
  ['the header User-Agent', withHeader('User-Agent'), `${RESERVED}User-Agent`],
  ['the header x-signature', withHeader('x-signature'), `${RESERVED}x-signature`],
  ['the header X-Signature-Previous', withHeader('X-Signature-Previous'), `${RESERVED}X-Signature-Previous`],
  ['the header X-Message-Id', withHeader('X-Message-Id'), `${RESERVED}X-Message-Id`],
  ['the header Webhook-Signature', withHeader('Webhook-Signature'), `${RESERVED}Webhook-Signature`],
  ['a header twice', withDestination({ headers: { 'X-Env': 'a', 'x-env': 'b' } }), TWICE],
  ['an empty header name', withHeader(''), HEADERS],
  ['a header name with a space', withHeader('X Env'), HEADERS],
  ['a header name with a colon', withHeader('X-Env:'), HEADERS],
  ['a header name beyond ASCII', withHeader('X-Ümlaut'), HEADERS],
  ['a line break in a header name', withHeader('X-A\r\nX-B'), HEADERS],
  ['a line break in a header value', withHeader('X-A', 'a\r\nX-B: b'), HEADERS],
  ['a NUL in a header value', withHeader('X-A', 'a\0'), HEADERS],
  ['a header value beyond Latin-1', withHeader('X-A', '🙂'), HEADERS],
  ['a header value that is no string', withHeader('X-A', 1), HEADERS],
  ['headers that are a list', withDestination({ headers: ['X-A: 1'] }), HEADERS],

  ['delivery that is no object', withDelivery('fast'), 'delivery must be an object'],
  ['a delivery option nobody knows', withDelivery({ retries: 1 }), 'delivery.retries is not a known option'],
  ['no time at all', withDelivery({ timeout: 0 }), 'delivery.timeout must be'],
  ['a timeout in words', withDelivery({ timeout: '5s' }), 'delivery.timeout must be'],
  ['a timeout no timer can take', withDelivery({ timeout: 2 ** 31 }), 'delivery.timeout must be'],
  ['a window that is not a number', withDelivery({ retryWindow: NaN }), 'delivery.retryWindow must be'],
  ['a window without end', withDelivery({ retryWindow: Infinity }), 'delivery.retryWindow must be'],
  ['a negative delay', withDelivery({ initialRetryDelay: -1 }), 'delivery.initialRetryDelay must be'],
  [
    'a first delay above the longest',
    withDelivery({ initialRetryDelay: 10, maxRetryDelay: 5 }),
    'delivery.initialRetryDelay must not be above delivery.maxRetryDelay',
  ],
  ['no concurrency', withDelivery({ concurrency: 0 }), 'delivery.concurrency must be'],
  ['half a request', withDelivery({ concurrency: 1.5 }), 'delivery.concurrency must be'],
  ['networks that are no list', withDelivery({ allowedNetworks: '10.0.0.0/8' }), 'delivery.allowedNetworks must be'],
  ['a length out of range', withDelivery({ allowedNetworks: ['10.0.0.0/33'] }), 'delivery.allowedNetworks must be'],
  ['an IPv6 length out of range', withDelivery({ allowedNetworks: ['::/129'] }), 'delivery.allowedNetworks must be'],
  ...['localhost/8', 'relay.internal', '10.0.0.256', '10.0.0', '[::1]', 'fe80::1%eth0', ''].map(
    (network): (typeof cases)[number] => [
      `${JSON.stringify(network)} for a network`,
      withDelivery({ allowedNetworks: [network] }),
      "delivery.allowedNetworks must be an array of networks in CIDR notation, addresses or 'localhost'",
    ],
  ),
  ['a CA that is no PEM', withDelivery({ ca: 'certificate' }), 'delivery.ca must be'],
  ['an empty CA', withDelivery({ ca: '' }), 'delivery.ca must be'],
  ['a CA in DER', () => withDelivery({ ca: new X509Certificate(certificates.ca).raw }), 'delivery.ca must be'],
  ...[
    'fetch',
    {},
    { axios: undefined },
    { axios: '' },
    null,
    () => undefined,
    { post: 'url' },
    { post() {}, axiosRef: 1 },
  ].map((transport): (typeof cases)[number] => [
    `${JSON.stringify(transport)} for a transport`,
    withDelivery({ transport }),
    "delivery.transport must be 'undici', 'axios', { axios: token of an HttpService } or a WebhookTransport",
  ]),
  ...(['proxy', 'ca'] as const).map((name): (typeof cases)[number] => [
    `a ${name} for a transport of its own`,
    () => withDelivery({ transport: { post() {} }, [name]: { proxy: 'http://proxy:3128', ca: certificates.ca }[name] }),
    `delivery.${name} cannot be combined with a WebhookTransport, which makes its own connections`,
  ]),
  ...[
    'proxy:3128',
    'socks5://proxy',
    'http://proxy/path',
    'http://proxy?a',
    'http://',
    'http://%zz@proxy',
    '',
    null,
    7,
  ].map((proxy): (typeof cases)[number] => [
    `${JSON.stringify(proxy)} for a proxy`,
    withDelivery({ proxy }),
    "delivery.proxy must be the http or https URL of a proxy, without a path, or 'environment'",
  ]),
  ['denied networks that are no list', withDelivery({ deniedNetworks: '8.8.8.8' }), 'delivery.deniedNetworks must be'],
  ['a denied name', withDelivery({ deniedNetworks: ['dns.example'] }), 'delivery.deniedNetworks must be an array of'],
  [
    'a denied address, allowed as well',
    { ...withUrl('https://10.1.2.3/'), delivery: { allowedNetworks: ['10.0.0.0/8'], deniedNetworks: ['10.1.2.3'] } },
    'WebhookDestinationModule: destinations[0].urls[0] must not be an address in delivery.deniedNetworks',
  ],
  [
    'a denied public address',
    { ...withUrl('https://1.1.1.1/'), delivery: { deniedNetworks: ['1.1.1.0/24'] } },
    'destinations[0].urls[0] must not be an address in delivery.deniedNetworks',
  ],
  ["Azure's own services", withUrl('http://168.63.129.16/machine'), NOT_PUBLIC],
  ['httpsOnly that is no boolean', withDelivery({ httpsOnly: 'yes' }), 'delivery.httpsOnly must be true or false'],
  [
    'a plain URL with httpsOnly',
    { ...withDestination({ urls: [url, 'http://receiver.example/hook'] }), delivery: { httpsOnly: true } },
    'WebhookDestinationModule: destinations[0].urls[1] must be an https URL, because delivery.httpsOnly is true',
  ],

  ['an unknown rule for retries', withDelivery({ retryOn: 'all' }), "delivery.retryOn must be 'spec' or 'any-failure'"],
  ['null for it', withDelivery({ retryOn: null }), 'delivery.retryOn must be'],
  ...[0, '60000', null, 604_800_001].map((retryWindow): (typeof cases)[number] => [
    `the retry window ${JSON.stringify(retryWindow)} of a destination`,
    withDestination({ retryWindow }),
    'destinations[0].retryWindow must be a number of milliseconds above 0, at most 604800000 (7 days)',
  ]),
  ['one of a destination', withDestination({ retryOn: 'any' }), "destinations[0].retryOn must be 'spec' or"],
  ...['', 'All', null, 7].map((integration): (typeof cases)[number] => [
    `the integration ${JSON.stringify(integration)}`,
    withDestination({ integration }),
    'destinations[0].integration must be a non-empty string other than All',
  ]),
  ...[
    'Order *',
    [],
    [''],
    ['!'],
    ['Order *', 7],
    ['Order *', null],
    [undefined],
    ['x'.repeat(201)],
    Array.from({ length: 101 }, (_, index) => `Event ${index}`),
    null,
    {},
  ].map((events): (typeof cases)[number] => [
    `the events ${JSON.stringify(events).slice(0, 40)}`,
    withDestination({ events }),
    'destinations[0].events must be an array of 1 to 100 event name patterns of 1 to 200 characters each',
  ]),
  ...[
    'tenant',
    ['tenant'],
    null,
    { tenant: 7 },
    { tenant: undefined },
    { '': 'a' },
    { ['x'.repeat(41)]: 'a' },
    { tenant: 'x'.repeat(501) },
    Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`n${index}`, ''])),
  ].map((metadata): (typeof cases)[number] => [
    `the metadata ${JSON.stringify(metadata).slice(0, 40)}`,
    withDestination({ metadata }),
    'destinations[0].metadata must map at most 50 names of 1 to 40 characters to strings of at most 500 characters',
  ]),
  ...[0, 1.5, -1, '8', null, Infinity].map((concurrency): (typeof cases)[number] => [
    `the concurrency ${JSON.stringify(concurrency)} of a destination`,
    withDestination({ concurrency }),
    'destinations[0].concurrency must be a whole number above 0',
  ]),
  ...[
    10,
    null,
    {},
    { requests: 10 },
    { per: 1_000 },
    { requests: 0, per: 1_000 },
    { requests: 1.5, per: 1_000 },
    { requests: 100_001, per: 1_000 },
    { requests: 10, per: 0 },
    { requests: 10, per: '1s' },
    { requests: 10, per: 2 ** 31 },
    { requests: 10, per: 1_000, burst: 5 },
  ].map((rateLimit): (typeof cases)[number] => [
    `the rate limit ${JSON.stringify(rateLimit)} of a destination`,
    withDestination({ rateLimit }),
    'destinations[0].rateLimit must be { requests, per }, where requests is a whole number from 1 to 100000 and per is a number of milliseconds above 0',
  ]),
  [
    'a rate limit below the number of URLs',
    withDestination({ urls: [url, `${url}2`], rateLimit: { requests: 1, per: 1_000 } }),
    'destinations[0].rateLimit must allow at least 2 requests, one for each of the 2 URLs',
  ],
  ['a transform that is no function', withDestination({ transform: '(body) => body' }), 'transform must be a function'],
  ['null for a transform', withDestination({ transform: null }), 'destinations[0].transform must be a function'],
  ['propagateTrace that is no boolean', withDestination({ propagateTrace: 1 }), 'propagateTrace must be true or false'],

  ['admin without a key', { ...withDestination({}), admin: {} }, 'admin must be { token }'],
  ['an empty admin token', { ...withDestination({}), admin: { token: '' } }, 'admin must be { token }'],
  ...['two words', 'line\n', '\u0000', 'Zoë'].map((token): (typeof cases)[number] => [
    `an admin token that a header cannot carry: ${JSON.stringify(token)}`,
    { ...withDestination({}), admin: { token } },
    'admin must be { token } or { token, readToken }, with different tokens of visible ASCII characters without spaces',
  ]),
  ['a guard that guards nothing', { ...withDestination({}), admin: { guard: class {} } }, 'admin must be { token }'],
  [
    'both a token and a guard',
    { ...withDestination({}), admin: { token: 't', guard: { canActivate: () => true } } },
    'admin must be { token }',
  ],
  ...[{ token: 't', readToken: 't' }, { token: 't', readToken: 'two words' }, { readToken: 't' }].map(
    (admin): (typeof cases)[number] => [
      `an admin read token that is not one: ${JSON.stringify(admin)}`,
      { ...withDestination({}), admin },
      'admin must be { token } or { token, readToken }',
    ],
  ),
  [
    'admin.access that is no function',
    { ...withDestination({}), admin: { guard: { canActivate: () => true }, access: undefined } },
    '{ guard, access }, with a guard and a function',
  ],
  ['null for destinations', { sources: [], destinations: null }, 'destinations must be an array'],
  ['null for the sources of one', withDestination({ sources: null }), 'destinations[0].sources must be'],
  ['null for the types', withDestination({ types: null }), 'destinations[0].types must be'],
  ['null for the headers', withDestination({ headers: null }), HEADERS],
  ['null for a secret', withDestination({ sharedSecret: null }), 'destinations[0].sharedSecret must be'],
  ['null for delivery', withDelivery(null), 'delivery must be an object'],
  ['null for a CA', withDelivery({ ca: null }), 'delivery.ca must be'],
  ['null for admin', { ...withDestination({}), admin: null }, 'admin must be { token }'],
  ['an undefined admin token', { ...withDestination({}), admin: { token: undefined } }, 'admin must be { token }'],
  ['an undefined guard', { ...withDestination({}), admin: { guard: undefined } }, 'admin must be { token }'],
  ['an undefined previous secret', withDestination({ sharedSecret: ['a', undefined] }), 'sharedSecret must be'],
  ['an undefined current secret', withDestination({ sharedSecret: [undefined, 'a'] }), 'sharedSecret must be'],
  ['an undefined CA among others', withDelivery({ ca: [undefined] }), 'delivery.ca must be'],
  ['an undefined URL', withUrl(undefined), NO_URL],
  [
    'an undefined header',
    withDestination({ headers: { 'X-Api-Key': undefined } }),
    `${HEADERS}; another value is that of X-Api-Key`,
  ],
  [
    'an undefined write key',
    { sources: [{ name: 'shop', writeKey: undefined }], destinations: [] },
    'writeKey must be',
  ],
  ['an undefined origin', { ...withDestination({}), ingest: { cors: { origin: undefined } } }, 'ingest.cors must be'],
  ['an undefined network', withDelivery({ allowedNetworks: [undefined] }), 'delivery.allowedNetworks must be'],
  ...['null', '1', '{}'].map((value): [string, unknown, string] => [
    `an own __proto__: ${value}`,
    withDestination(JSON.parse(`{"__proto__":${value}}`) as object),
    'destinations[0].__proto__ is not a known option',
  ]),
  ['an undefined misspelt option', withDestination({ sharedSecert: undefined }), 'sharedSecert is not a known option'],
  ...[7, '/v1', '.', '..', '../x', 'a/../b', 'a/.', './a'].map((prefix): [string, unknown, string] => [
    `the prefix ${prefix}`,
    { ...withDestination({}), ingest: { prefix } },
    'ingest.prefix must be',
  ]),
  ...Object.entries({
    'is a name': 'sqlite',
    'is not called': sqliteQueue,
    'is not called, in memory': memoryQueue,
    'returns nothing': () => undefined,
    'is asynchronous': () => Promise.resolve(memoryQueue()()),
  }).map(([what, queue]): (typeof cases)[number] => [
    `a queue that ${what}`,
    { ...withDestination({}), queue },
    'WebhookDestinationModule: queue must be a queue, such as sqliteQueue()',
  ]),
];

/** Options that nobody would notice to be missing, each as `undefined`: what `process.env.NAME` is where nobody has set it. */
const undefinedCases: [option: string, options: unknown][] = [
  ['destinations[0].sharedSecret', withDestination({ sharedSecret: undefined })],
  ['destinations[0].sources', withDestination({ sources: undefined })],
  ['destinations[0].types', withDestination({ types: undefined })],
  ['destinations[0].events', withDestination({ events: undefined })],
];

describe('Options', () => {
  it.each(undefinedCases)('%s must not be undefined', async (option, options) => {
    const message = await boot(options);
    expect(message).toMatch(`WebhookDestinationModule: ${option} must `);
    expect(message).toMatch(/; it is undefined: set it, or leave the key out$/);
    expect(message?.split('must')).toHaveLength(2);
  });

  it.each(cases)('stop the application with what is wrong: %s', async (_what, options, error) => {
    expect(await boot(typeof options === 'function' ? (options as () => unknown)() : options)).toContain(error);
  });

  it.each([
    ['http://localhost:4200/hook', "'127.0.0.0/8', '::1/128'"],
    ['http://127.0.0.1:4200/hook', "'127.0.0.0/8', '::1/128'"],
    ['http://[::1]:4200/hook', "'127.0.0.0/8', '::1/128'"],
    ['http://10.1.2.3/hook', "'10.1.2.3/32'"],
    ['http://[fd00::1]/hook', "'fd00::1/128'"],
  ])('say what to set for %s, and start with it', async (address, networks) => {
    const options = withDestination({ urls: [address, 'http://172.20.0.1/'] });
    const allowing = (allowedNetworks: string[]) => ({ ...options, delivery: { allowedNetworks } });
    const message = await boot(allowing(['172.16.0.0/12']));
    expect(message).toMatch(/; to allow it, set delivery\.allowedNetworks: \['172\.16\.0\.0\/12', .*\]$/);
    expect(message).toContain(`['172.16.0.0/12', ${networks}]`);
    const value = JSON.parse(/(\[[^[]*\])$/.exec(message!)![1]!.replaceAll("'", '"')) as string[];
    expect(await boot(allowing(value))).toBeUndefined();
  });

  it('are refused as a whole, each fault on a line, none of it with a secret', async () => {
    const message = await boot({
      sources: [{ name: '', writeKey: 's3cret-key:' }],
      destinations: [
        { urls: ['nowhere://s3cret-url'], sharedSecret: ['s3cret-a', ''], headers: { 'X-A': 's3cret-header\n' } },
      ],
      admin: { token: 's3cret-token', guard: 1 },
      delivery: { timeout: -1 },
    });
    expect(message?.split('\n  - ').sort()).toEqual([
      'WebhookDestinationModule: ',
      expect.stringMatching(/^admin must/),
      expect.stringMatching(/^delivery\.timeout must/),
      expect.stringMatching(/^destinations\[0\]\.headers must/),
      expect.stringMatching(/^destinations\[0\]\.sharedSecret must/),
      expect.stringMatching(/^destinations\[0\]\.urls must/),
      expect.stringMatching(/^sources\[0\]\.name must/),
      expect.stringMatching(/^sources\[0\]\.writeKey must/),
    ]);
    expect(message).not.toContain('s3cret');
  });

  it('are refused all at once, also those that break a rule between options', async () => {
    const secret = 'a secret of the registry';
    const message = await boot({
      sources: [source, { ...source, writeKey: '' }, { name: 'blog', writeKey: 'the-token-of-the-operator' }],
      destinations: [
        { urls: ['ftp://receiver.example', 'http://127.0.0.1/'], sources: ['nowhere'], concurrency: 0 },
        { urls: [url, `${url}2`], rateLimit: { requests: 1, per: 1 }, standardWebhooks: true, retryOn: 'never' },
        null,
      ],
      registrySecret: secret,
      mode: 'ingest',
      admin: { token: 'the-token-of-the-operator' },
      delivery: { httpsOnly: true, initialRetryDelay: 2, maxRetryDelay: 1, timeout: -1, proxy: 'x' },
    });
    const [first, ...faults] = message!.split('\n  - ').sort();
    expect(first).toBe('WebhookDestinationModule: ');
    expect(faults.map((fault) => fault.replace(/ (must|requires|cannot) [^]*$/, ''))).toEqual([
      'delivery.initialRetryDelay', // not above maxRetryDelay
      'delivery.proxy',
      'delivery.timeout',
      'destinations[0].concurrency',
      'destinations[0].sources', // a name that is not declared
      'destinations[0].urls',
      'destinations[0].urls[1]', // httpsOnly
      'destinations[0].urls[1]', // a private address
      'destinations[1].name',
      'destinations[1].rateLimit', // two URLs
      'destinations[1].retryOn',
      'destinations[1].standardWebhooks', // no secret
      'destinations[2]',
      'mode',
      'registrySecret',
      'sources[1].name',
      'sources[1].writeKey',
      'sources[2].writeKey', // the token
    ]);
  });

  it('are not compared with options that are wrong themselves', async () => {
    const message = await boot({
      sources: [{ name: '', writeKey: 'wk' }],
      destinations: [
        { urls: ['http://127.0.0.1/'], sources: ['shop'], standardWebhooks: true, sharedSecret: '' },
        { urls: [], name: 'B', rateLimit: { requests: 0 }, sources: [] },
      ],
      queue: {},
      mode: 'deliver',
      registrySecret: 'short',
      registry: 'stored',
      admin: { token: 7 },
      delivery: { allowedNetworks: ['locahost'], initialRetryDelay: 2, maxRetryDelay: 0 },
    });
    const [, ...faults] = message!.split('\n  - ').sort();
    expect(faults.map((fault) => fault.split(' ', 1)[0])).toEqual([
      'admin',
      'delivery.allowedNetworks',
      'delivery.maxRetryDelay',
      'destinations[0].sharedSecret',
      'destinations[1].rateLimit',
      'destinations[1].sources',
      'destinations[1].urls',
      'queue',
      'registry',
      'registrySecret',
      'sources[0].name',
    ]);
  });

  it.each([null, 7, 'all'])('are refused where the options of delivery are %s', async (delivery) => {
    const message = await boot({
      sources: [source, source],
      destinations: [{ urls: ['http://127.0.0.1/'] }],
      delivery,
    });
    expect(message).toContain('delivery must be an object');
    expect(message).toContain('sources[1].name must differ');
  });

  it('have each rule of the headers on a line, with the names at fault', async () => {
    const message = await boot(
      withDestination({ headers: { Host: 'a', Connection: 'close', 'X-A': 'a', 'x-a': undefined } }),
    );
    expect(message).toBe(
      [
        'WebhookDestinationModule: ',
        `${HEADERS}; another value is that of x-a`,
        'destinations[0].headers must not contain a name twice in different case: x-a',
        `${RESERVED}Host, Connection`,
      ].join('\n  - '),
    );
  });

  describe('that are right', () => {
    let ca: string;
    beforeAll(() => {
      ({ ca } = certificates);
    });

    it.each<[string, () => unknown]>([
      ['the least', () => ({ sources: [], destinations: [] })],
      ['a public address', () => withUrl('https://1.1.1.1/hook')],
      ['a public IPv6 address', () => withUrl('https://[2606:4700:4700::1111]/hook')],
      ['a name', () => withUrl('https://receiver.example:8443/a/b?c=d#e')],
      [
        'an allowed address',
        () => ({ ...withUrl('http://10.0.0.9/'), delivery: { allowedNetworks: ['10.0.0.0/24'] } }),
      ],
      ['an allowed IPv6 one', () => ({ ...withUrl('http://[::1]/'), delivery: { allowedNetworks: ['::1/128'] } })],
      ...['localhost', '127.0.0.1', '127.0.0.0/8', '::1', '::1/128'].map((network): [string, () => unknown] => [
        `localhost, allowed as ${network}`,
        () => ({ ...withUrl('http://localhost:4200/'), delivery: { allowedNetworks: [network] } }),
      ]),
      ['a name that holds localhost', () => withUrl('https://localhost.receiver.example/')],
      ['five URLs', () => withDestination({ urls: [1, 2, 3, 4, 5].map((n) => `${url}${n}`) })],
      ['headers', () => withDestination({ headers: { Authorization: 'Bearer x', 'X-Latin': 'é', 'x-empty': '' } })],
      ['two secrets', () => withDestination({ sharedSecret: ['new', 'old'] })],
      ['whsec_ and 24 bytes', () => withDestination({ sharedSecret: standardSecret(24) })],
      ['whsk_ and 32 bytes', () => withDestination({ sharedSecret: privateSecret(32), standardWebhooks: true })],
      [
        'secrets for Standard Webhooks',
        () =>
          withDestination({ sharedSecret: [standardSecret(32), 'a secret of 24 bytes ...'], standardWebhooks: true }),
      ],
      ['deletions alone', () => withDestination({ types: ['delete'] })],
      [
        'two destinations of one integration',
        () => ({
          sources: [source],
          destinations: ['A', 'B'].map((name) => ({ name, integration: 'Webhooks', urls: [url] })),
        }),
      ],
      [
        'what a destination may have besides',
        () =>
          withDestination({
            events: ['Order *', `!${'x'.repeat(199)}`],
            metadata: { tenant: 't-1', empty: '' },
            concurrency: 1,
            rateLimit: { requests: 1, per: 0.5 },
            transform: (body: object) => body,
            propagateTrace: true,
          }),
      ],
      ['a CA', () => withDelivery({ ca: [ca, ca] })],
      ['a CA in buffers', () => withDelivery({ ca: [Buffer.from(ca), ca] })],
      ['a proxy', () => withDelivery({ proxy: 'http://user:pa%40ss@proxy.internal:3128/' })],
      ['httpsOnly', () => withDelivery({ httpsOnly: true })],
      [
        'localhost by its address that is not denied',
        () => ({
          ...withUrl('http://localhost/'),
          delivery: { allowedNetworks: ['localhost'], deniedNetworks: ['::1'] },
        }),
      ],
      ['a transport of its own', () => withDelivery({ transport: { post: () => Promise.resolve({ status: 200 }) } })],
      ['no ingest', () => ({ ...withDestination({}), ingest: false })],
      [
        'undefined for the default',
        () => ({
          ...withDestination({
            ...{ name: undefined, enabled: undefined, headers: undefined, standardWebhooks: undefined },
            ...{ integration: undefined, metadata: undefined, concurrency: undefined, rateLimit: undefined },
            ...{ transform: undefined, propagateTrace: undefined },
          }),
          queue: undefined,
          ingest: { prefix: undefined, cors: undefined, rateLimit: undefined },
          delivery: { timeout: undefined, allowedNetworks: undefined, transport: undefined, ca: undefined },
          mode: undefined,
          admin: undefined,
        }),
      ],
      ['a guard', () => ({ ...withDestination({}), admin: { guard: { canActivate: () => true } } })],
    ])('start the application: %s', async (_what, options) => {
      expect(await boot(options())).toBeUndefined();
    });
  });
});
