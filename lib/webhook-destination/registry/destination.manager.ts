import { randomUUID } from 'node:crypto';

import { findOptionFaults, toOptions } from '../../common/options.rules.js';
import { FieldError } from '../../common/relay.errors.js';
import { inSlices } from '../../common/slices.util.js';
import { DestinationOptions } from '../dispatch/destination.options.js';
import { AcceptedMessage, findPostedFault } from '../ingest/accepted-message.js';
import { ParsedMessage } from '../ingest/parsed-message.js';
import type { AttemptRecord } from '../queue/attempt-record.interface.js';
import { generateSecret, type SignatureScheme } from '../receiver/webhook-secret.rules.js';
import { toWebhookBody } from '../routing/webhook-body.util.js';
import type { GivenDestination } from './destination-registry.interface.js';
import { detach, type EntryDocuments, publicKeysOf, shownUrlsOf, toLiveDestination } from './entry.document.js';
import { EntryManager, type PatchRules, type ReadableEntry } from './entry.manager.js';
import { isPaused, type PausableDestination, type Pause, recentPauses } from '../dispatch/pause.util.js';
import { findConcealedFaults, findNewOrigin } from './new-origin.rules.js';
import type { CreatedDestination, DestinationEntry } from './registry-entry.interface.js';
import type { Registry } from './registry.js';
import type { SourceManager } from './source.manager.js';

type Document = EntryDocuments['destination'];

const IN_CODE = "can only be declared in code: in the module's options, or by the application's own registry";

const FIELDS: PatchRules<DestinationOptions> = {
  name: 'cannot be changed',
  integration: true,
  enabled: true,
  sources: true,
  types: true,
  events: true,
  urls: true,
  headers: true,
  sharedSecret: true, // together with urls of a new origin
  standardWebhooks: true,
  retryOn: true,
  retryWindow: true,
  concurrency: true,
  rateLimit: true,
  transform: IN_CODE,
  propagateTrace: true,
  metadata: true,
};

/** A new destination. Its secret is generated (`whsec_`) unless given. */
export type NewDestination = Omit<GivenDestination, 'transform'>;

/**
 * Fields of a destination to change. `undefined` leaves a field unchanged; `null` resets it to its default, `sharedSecret`
 * to a generated one of the same kind.
 */
export type DestinationPatch = {
  [K in keyof Omit<DestinationOptions, 'name' | 'transform'>]?: DestinationOptions[K] | null;
};

/** Names of the entries that were copied into the registry. */
export interface ImportResult {
  sources: string[];
  destinations: string[];
  /** Destinations with a `transform`, which must stay in code. */
  refused: string[];
}

/** Sends one message immediately, outside the queue. */
export type SendTest = (destination: DestinationOptions, body: Buffer, messageId: string) => Promise<AttemptRecord>;

/**
 * Manages the destinations of the module's options and of the registry. Before the promise of a change resolves, the
 * change is durable and in effect in this process; other processes apply it within a second.
 */
export class DestinationManager extends EntryManager<'destination', DestinationEntry> {
  /**
   * @internal
   * @param now returns the queue's time, which retry windows are measured by, in ms since the epoch
   */
  constructor(
    registry: Registry,
    private readonly sources: SourceManager,
    private readonly retryWindow: number,
    private readonly send: SendTest,
    private readonly now: () => number,
  ) {
    super('destination', registry);
  }

  /**
   * Creates a destination.
   *
   * @throws {OptionsError} naming each invalid field and its rule
   * @throws {RelayError} `destination_exists`, or `registry_read_only` without `registry: 'store'`
   */
  async create(destination: NewDestination): Promise<CreatedDestination> {
    const given = Object(destination) as Record<string, unknown>;
    const { name = new DestinationOptions().name } = given;
    if (given.transform !== undefined) throw this.refusal(name, [`transform ${IN_CODE}`]);
    const generated = Object.hasOwn(given, 'sharedSecret') ? {} : { sharedSecret: generateSecret('v1') };
    const options = { ...given, name, ...generated } as Document['options'];
    return { ...(await this.add(options, { createdAt: this.now() })), ...generated };
  }

  /**
   * Changes fields of a destination; the name cannot be changed. With `enabled: false`, the destination receives no new
   * messages, and queued messages wait.
   *
   * If `urls` has a new origin (scheme, host and port), the patch must also have `headers`, if there are any, and
   * `sharedSecret`, if requests are signed: the present values are not sent to a new origin unless they are given again.
   * The previous secret of a rotation is dropped. Otherwise, the secret is changed with {@link rotateSecret}.
   *
   * @throws {OptionsError} naming each invalid field and its rule
   * @throws {RelayError} `destination_unknown` or `registry_read_only`
   */
  async update(name: string, patch: DestinationPatch): Promise<CreatedDestination> {
    const { sharedSecret } = Object(patch) as DestinationPatch;
    const generated = sharedSecret === null ? { sharedSecret: generateSecret(await this.schemeOf(name)) } : {};
    const given = Object(patch) === patch ? { ...patch, ...generated } : patch;
    const entry = await this.patch(name, given, FIELDS, (document) => {
      const { options } = document;
      const faults = [...findConcealedFaults(given, options), ...this.registry.tenants.findFaults(options, given)];
      if (faults.length > 0) throw this.refusal(name, faults);
      const next = atNewUrl(given, document);
      return findNewOrigin(given, options) === undefined ? next : { ...next, previous: undefined };
    });
    return withoutPrivateKey({ ...entry, ...generated });
  }

  /**
   * Pauses a destination: its messages are queued but not sent until {@link resume} is called. Paused time does not
   * count towards their retry windows.
   *
   * @throws {RelayError} `destination_unknown` or `registry_read_only`
   */
  pause(name: string): Promise<DestinationEntry> {
    return this.changePauses(name, (pauses) => (isPaused(pauses) ? undefined : [...pauses, { from: this.now() }]));
  }

  /**
   * Resumes a paused destination and sends its queued messages.
   * @throws {RelayError} `destination_unknown` or `registry_read_only`
   */
  resume(name: string): Promise<DestinationEntry> {
    return this.changePauses(name, (pauses) =>
      isPaused(pauses) ? [...pauses.slice(0, -1), { from: pauses.at(-1)!.from, to: this.now() }] : undefined,
    );
  }

  /**
   * Enables an endpoint that was disabled, or that its tenant paused, or forgets since when it fails. Deliveries that it
   * did not get meanwhile are dead, with the reason `endpoint disabled`, or `endpoint paused` if its tenant had paused it,
   * and can be replayed.
   *
   * @throws {RelayError} `destination_unknown` or `registry_read_only`
   * @see docs/portal.md, "Life of an endpoint"
   */
  enable(name: string): Promise<DestinationEntry> {
    return this.change(name, (document) =>
      document.disabled || document.failingSince !== undefined
        ? { ...document, disabled: undefined, failingSince: undefined }
        : document,
    );
  }

  /**
   * Replaces the secret of a destination with the given one, or a generated one of the same kind. For `overlap` ms
   * (default: a day), requests are also signed with the previous secret, each in its own way. A secret from an earlier
   * rotation is dropped immediately.
   *
   * @throws {OptionsError} naming the invalid field and its rule
   * @throws {RelayError} `destination_unknown` or `registry_read_only`
   */
  async rotateSecret(name: string, rotation: { secret?: string; overlap?: number } = {}): Promise<CreatedDestination> {
    const scheme = await this.schemeOf(name);
    return withoutPrivateKey(await this.rotate(name, 'sharedSecret', 'secret', rotation, () => generateSecret(scheme)));
  }

  /**
   * Ends the overlap of {@link rotateSecret} now, such as for a leaked secret: requests are signed with the present secret
   * only. If there is no overlap, nothing changes.
   *
   * @throws {RelayError} `destination_unknown` or `registry_read_only`
   */
  endOverlap(name: string): Promise<DestinationEntry> {
    return this.endPrevious(name);
  }

  /**
   * Sends one message to each URL immediately, outside the queue, even if the destination is paused or not enabled.
   * Resolves with the attempt, successful or not.
   *
   * @param message message fields as for `accept`; by default, the track event `Test Event`
   * @throws {OptionsError} with the fault of a destination that this process does not use
   * @throws {RelayError} `destination_unknown`, or `argument_invalid` for a message that breaks a rule
   */
  async test(name: string, message: object = {}): Promise<AttemptRecord> {
    const destination = toLiveDestination(await this.used(name));
    const given = Object(message) as Record<string, unknown>;
    const anonymousId = given.userId === undefined ? { anonymousId: 'test' } : {};
    const messageId = `test-${randomUUID()}`;
    const posted = new ParsedMessage({ type: 'track', event: 'Test Event', ...anonymousId, messageId, ...given });
    const fault = findPostedFault(posted);
    if (fault) throw new FieldError('argument_invalid', `message: ${fault.message}`, fault.field);
    const accepted = new AcceptedMessage(posted, Date.now());
    return this.send(destination, toWebhookBody(accepted), accepted.messageId);
  }

  /**
   * Copies the sources and destinations of the module's options into the registry, with their keys and secrets, unless
   * the registry has an entry with the same name. Remove them from the options afterwards: until then, the options take
   * precedence.
   *
   * @throws {RelayError} `registry_read_only` without `registry: 'store'`
   */
  async importFixed(): Promise<ImportResult> {
    const refused: string[] = [];
    const sources = await this.sources.copyFixed();
    const destinations = await this.copyFixed(
      ({ name, transform }) => transform !== undefined && refused.push(name) > 0,
    );
    return { sources, destinations, refused };
  }

  /** @internal Returns the options of the destinations in use, with their secrets, sorted by name. */
  async inUse(): Promise<PausableDestination[]> {
    return (await this.live()).map((document) => this.registry.toLive(document));
  }

  /**
   * @internal Returns the document of a destination, with its secrets.
   * @throws {RelayError} `destination_unknown`
   */
  async documentOf(name: string): Promise<Document> {
    return (await this.known(name)).document;
  }

  /**
   * @internal Creates a destination for its tenant, which receives the messages of the tenant's sources, also of later ones.
   * @throws {OptionsError} naming each invalid field and its rule
   */
  createForTenant(destination: NewDestination & { name: string }): Promise<DestinationEntry> {
    return this.add(destination, { createdAt: this.now(), followsTenant: true });
  }

  /**
   * @internal Pauses a destination for its tenant. Its deliveries become dead and are kept: those that wait, as in
   * {@link pause}, fill the queue of all tenants.
   *
   * @throws {RelayError} `destination_unknown`
   */
  pauseForTenant(name: string): Promise<DestinationEntry> {
    return this.change(name, (document) =>
      document.disabled ? document : { ...document, disabled: { since: this.now(), reason: 'paused' } },
    );
  }

  /**
   * @internal Changes what a tenant may change of its destination. The secret is the tenant's own, so it goes to a new
   * origin, too; headers, which only the application can have set, do not.
   *
   * @param metadata the entries to change
   * @throws {OptionsError} naming each invalid field and its rule
   * @throws {RelayError} `destination_unknown`
   */
  updateForTenant(
    name: string,
    patch: Pick<DestinationPatch, 'urls' | 'events'>,
    metadata: Record<string, string> = {},
  ): Promise<DestinationEntry> {
    return this.patch(name, patch, FIELDS, (document) => {
      const { options } = document;
      const faults = findConcealedFaults(patch, { ...options, sharedSecret: undefined });
      if (faults.length > 0) throw this.refusal(name, faults);
      return atNewUrl(patch, { ...document, options: { ...options, metadata: { ...options.metadata, ...metadata } } });
    });
  }

  /**
   * @internal Returns the public keys under which the destinations in use sign, those of a destination together, with
   * pauses.
   */
  async *publicKeys(): AsyncGenerator<string[]> {
    for await (const document of inSlices(await this.live())) {
      const { current, previous } = publicKeysOf(document);
      const keys = [current, previous].filter((key) => key !== undefined);
      if (keys.length > 0) yield keys;
    }
  }

  protected show({ document, origin, fault }: ReadableEntry<'destination'>): DestinationEntry {
    const { options, previous, pauses, failingSince, disabled, createdAt, updatedAt } = document;
    const sources = this.registry.presentSources(document);
    const given = toOptions(DestinationOptions, options);
    // A later version may have written another format.
    const isShown = fault === undefined || findOptionFaults(given).length === 0;
    const shownOptions = isShown ? given : toOptions(DestinationOptions, { name: options.name, urls: [] });
    const { headers, sharedSecret, transform, ...shown } = detach(shownOptions);
    return {
      ...shown,
      ...(sources && { sources }),
      origin,
      tenant: origin === 'store' ? this.registry.tenants.of(options) : undefined,
      fault,
      urls: shownUrlsOf(shownOptions),
      headers: Object.keys(headers),
      signed: sharedSecret !== undefined,
      publicKey: publicKeysOf(document).current,
      transformed: transform !== undefined,
      paused: isPaused(pauses),
      failingSince,
      disabled: disabled && { ...disabled },
      previousSecretUntil: previous?.until,
      createdAt,
      updatedAt,
    };
  }

  /** Returns how a generated secret signs: as the present one does. */
  private async schemeOf(name: string): Promise<SignatureScheme> {
    const entry = await this.get(name);
    return entry?.publicKey === undefined ? 'v1' : 'v1a';
  }

  private changePauses(name: string, change: (pauses: Pause[]) => Pause[] | undefined): Promise<DestinationEntry> {
    return this.change(name, (document) => {
      const pauses = change(document.pauses ?? []);
      return pauses ? { ...document, pauses } : document;
    });
  }

  protected override change(name: string, change: (document: Document) => Document): Promise<DestinationEntry> {
    return super.change(name, (document) => {
      const changed = change(document);
      if (changed === document || !changed.pauses) return changed;
      const { pauses, failingSince, options } = changed;
      const now = this.now();
      // Neither a retry window nor the time that an endpoint may fail counts pauses.
      const counted = Math.max(
        options.retryWindow ?? this.retryWindow,
        failingSince === undefined ? 0 : now - failingSince,
      );
      return { ...changed, pauses: recentPauses(pauses, counted, now) };
    });
  }
}

/** Returns a document that gets other URLs: it has not failed yet. */
function atNewUrl({ urls }: Pick<DestinationPatch, 'urls'>, document: Document): Document {
  return urls == null || document.failingSince === undefined ? document : { ...document, failingSince: undefined };
}

/** Removes a generated private key from an answer: only the relay needs it. */
function withoutPrivateKey(entry: CreatedDestination): CreatedDestination {
  const shown = { ...entry };
  if (shown.publicKey !== undefined) delete shown.sharedSecret;
  return shown;
}
