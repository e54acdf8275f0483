import type { EventClass } from '../../common/event-class/event-definition.js';
import { IfGiven, Must } from '../../common/options.rules.js';
import { isPositiveInteger, isPositiveNumber } from '../../common/value.util.js';
import { type DestinationRateLimit, isRateLimit } from '../dispatch/request-limit.js';
import { isName } from '../entry.rules.js';
import type { PortalEvent } from './catalogue.options.js';

/** Minimum length of the secret that signs links, in bytes. */
const MIN_SECRET_BYTES = 32;

const MAX_BRAND_NAME = 100;

const SECRET_RULE = `be a string of at least ${MIN_SECRET_BYTES} bytes`;

/** Limits on what each tenant may add. */
export interface PortalLimits {
  /**
   * Maximum number of endpoints of a tenant.
   * @default 10
   */
  endpoints?: number;
  /** `rateLimit` of each endpoint that a tenant adds. Default: none. */
  rateLimit?: DestinationRateLimit;
}

/** How the pages look. */
export interface PortalBrand {
  /** Name of the application, at most 100 characters. */
  name: string;
  /** An `https:` URL, or a `data:` URL of an image. Default: none. */
  logo?: string;
  /** Colour of links and buttons, such as `#4656d6`. Default: that of the dashboard. */
  accent?: string;
}

/** The customers' portal: pages and an API in which each tenant manages its own endpoints and deliveries. */
export class PortalOptions {
  /**
   * Name in the `metadata` of a destination. Its value is the tenant that the destination belongs to.
   * @default 'tenant'
   */
  @Must(
    'be a string of 1 to 40 characters other than description, which is that of an endpoint',
    (value) => typeof value === 'string' && value !== '' && value.length <= 40 && value !== 'description',
  )
  tenant: string = 'tenant';

  /** Signs the links of tenants: at least 32 bytes. Another secret ends all links. Default: required. */
  @Must(SECRET_RULE, isSecret)
  secret!: string;

  /**
   * The events that tenants see and subscribe to: event classes, or objects `{ name, description, schema, example }`, where
   * `schema` is the JSON Schema of the event's properties and `example` has such properties. Default: the tracking plans
   * of the modules in the same application that record into this relay.
   * @see docs/portal.md, "Events"
   */
  @IfGiven()
  @Must('be an array of event classes and objects', Array.isArray)
  events?: readonly (EventClass | PortalEvent)[];

  /**
   * How long an endpoint may fail without a success before it is disabled, in ms. Destinations of the module's options
   * are never disabled.
   * @default 432_000_000 (5 days)
   */
  @Must('be a number of milliseconds above 0', isPositiveNumber)
  disableAfter: number = 432_000_000;

  /**
   * Name of the destination of the module's options that gets operational webhooks: track events such as
   * `endpoint.disabled`. Default: none.
   */
  @IfGiven()
  @Must('be the name of a destination of the module', isName)
  operator?: string;

  /** Limits on what each tenant may add. Default: 10 endpoints. */
  @Must(
    'be { endpoints, rateLimit }, where endpoints is a whole number above 0 and rateLimit is that of a destination',
    areLimits,
  )
  limits: PortalLimits = {};

  /**
   * Origins of the pages that may show the portal in an iframe, such as `https://app.example`.
   * @default []
   */
  @Must('be an array of http or https origins', (value) => Array.isArray(value) && value.every(isOrigin))
  embed: string[] = [];

  /** How the pages look. Default: the dashboard's colours, without a name. */
  @IfGiven()
  @Must(
    `be { name, logo, accent }, where name has 1 to ${MAX_BRAND_NAME} characters, logo is an https: URL or a data: URL of an image, and accent is # with 6 hexadecimal digits`,
    isBrand,
  )
  brand?: PortalBrand;
}

function isSecret(value: unknown): boolean {
  return typeof value === 'string' && Buffer.byteLength(value) >= MIN_SECRET_BYTES;
}

function areLimits(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { endpoints = 1, rateLimit, ...others } = value as PortalLimits;
  if (Object.keys(others).length > 0) return false;
  return isPositiveInteger(endpoints) && (rateLimit === undefined || isRateLimit(rateLimit));
}

function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value;
}

function isBrand(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, logo, accent, ...others } = value as PortalBrand;
  if (Object.keys(others).length > 0 || typeof name !== 'string') return false;
  if (name === '' || name.length > MAX_BRAND_NAME) return false;
  const isLogo =
    logo === undefined || (/^(https:\/\/|data:image\/)[^\s"'<>;,]*[^\s"'<>]+$/.test(logo) && URL.canParse(logo));
  return isLogo && (accent === undefined || /^#[\da-f]{6}$/i.test(accent));
}
