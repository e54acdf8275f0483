import { setImmediate as nextTurn } from 'node:timers/promises';

import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { Subscription } from 'rxjs';

import { errorMessage } from '../../client/error.util.js';
import { RelayError } from '../../client/relay.error.js';
import { OptionsError } from '../../common/options.error.js';
import { toOptions } from '../../common/options.rules.js';
import { FieldError } from '../../common/relay.errors.js';
import { DestinationOptions } from '../dispatch/destination.options.js';
import { SourceOptions } from '../ingest/source.options.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import type {
  DestinationRegistry,
  DestinationRegistryProvider,
  RegistryChange,
} from './destination-registry.interface.js';
import { type AnyDocument, detach, subjectOf } from './entry.document.js';
import { Registry } from './registry.js';
import { isDestinationRegistry } from './registry.options.js';

/** Entries processed in one turn of the event loop. */
const PORTION = 200;

const KINDS: readonly string[] = ['source', 'destination'] satisfies RegistryKind[];

/**
 * Registry of the sources and destinations that the application itself keeps; empty without a provider.
 *
 * The application has the truth: all is loaded before the registry is open, and later changes are put into use as they
 * come. An entry that breaks a rule is ignored, and the one before it stays in use. This is no store under
 * `StoredRegistry`, because entries may have a `transform`, which has no stored form, and are never written.
 */
export class ApplicationRegistry extends Registry {
  readonly origin = 'application';
  readonly #provider: DestinationRegistryProvider | undefined;
  private changes: Subscription | undefined;

  constructor(provider: DestinationRegistryProvider | undefined, ...relay: ConstructorParameters<typeof Registry>) {
    super(...relay);
    this.#provider = provider;
  }

  change(kind: RegistryKind, name: string): Promise<void> {
    const rule = `${kind} "${name}" can be created, changed or removed only with registry: 'store'`;
    return Promise.reject(new FieldError('registry_read_only', rule, 'registry'));
  }

  protected async start(moduleRef: ModuleRef): Promise<void> {
    if (!this.#provider) return;
    const registry = await resolveRegistry(this.#provider, moduleRef);
    let missed: RegistryChange[] | undefined = [];
    this.changes = registry.changes$?.subscribe({
      next: (change) => (missed ? missed.push(change) : this.take(change)),
      error: (error) =>
        this.logger.error(
          `changes$ of the application's registry failed; no more changes are applied until the next start: ${errorMessage(error)}`,
        ),
    });
    await this.load(registry);
    for (const change of missed) this.take(change);
    missed = undefined;
  }

  protected stop(): void {
    this.changes?.unsubscribe();
  }

  private async load(registry: DestinationRegistry): Promise<void> {
    let loaded: Awaited<ReturnType<DestinationRegistry['load']>>;
    try {
      loaded = await registry.load();
    } catch (error) {
      const message = `load() of the application's registry failed: ${errorMessage(error)}`;
      throw new RelayError('registry_unavailable', message, { cause: error });
    }
    const lists = [
      ['source', loaded?.sources],
      ['destination', loaded?.destinations],
    ] as const;
    const faults = lists.flatMap(([kind, list]) => (Array.isArray(list) ? [] : [`${kind}s must be an array`]));
    if (faults.length > 0) throw new OptionsError("load() of the application's registry", faults);
    for (const [kind, list] of lists) {
      for (let index = 0; index < list.length; index++) {
        if (index % PORTION === PORTION - 1) await nextTurn();
        if (this.isClosed) return;
        this.put(kind, list[index], `${kind}s[${index}]`);
      }
    }
  }

  /** Never throws; an invalid change is logged. */
  private take(change: RegistryChange): void {
    if (this.isClosed) return;
    const ignore = (fault: string) =>
      this.logger.limited('error', `Ignored a change from the application's registry: it ${fault}`);
    let parts: ChangePart[];
    try {
      parts = toParts(change);
    } catch (error) {
      return ignore(cannotBeRead(error));
    }
    if (parts.length === 0 || parts.some(({ kind }) => !KINDS.includes(kind))) {
      return ignore('must have either put or remove, with a source, a destination or both');
    }
    for (const { kind, value, isPut } of parts) {
      if (isPut) this.put(kind, value);
      else if (this.held(kind, value as string)) this.drop(kind, value as string);
    }
  }

  /** @param place where `load()` returned the entry, whose name must be unique there */
  private put(kind: RegistryKind, given: unknown, place?: string): void {
    const isObject = typeof given === 'object' && given !== null;
    let document: AnyDocument | undefined;
    let faults: string[];
    try {
      const options = toOptions<object>(kind === 'source' ? SourceOptions : DestinationOptions, given);
      document = { options } as AnyDocument;
      faults = this.findAllFaults(kind, document, place);
      // The application may change its own lists and objects, unchecked.
      if (faults.length === 0) detach(document.options);
    } catch (error) {
      faults = [cannotBeRead(error)];
    }
    const name = isObject ? document?.options.name : undefined;
    if (faults.length > 0) {
      const subject = typeof name === 'string' && name !== '' ? subjectOf(kind, name) : (place ?? `A ${kind}`);
      this.logger.limited('error', `${subject} of the application's registry is ignored: ${faults.join('; ')}`);
      return;
    }
    this.hold({ kind, name: name!, origin: this.origin, document, live: document });
    this.use(kind, document!);
  }

  private findAllFaults(kind: RegistryKind, document: AnyDocument, place: string | undefined): string[] {
    const faults = this.findFaults(kind, document);
    if (faults.length > 0) return faults;
    if (place && this.held(kind, document.options.name)) {
      return [`name must differ from that of every other ${kind}`];
    }
    return [...this.findConflicts(kind, document), ...this.findUnknownSources(kind, document)];
  }
}

/** An entry of a change: its options, or the name of one to remove. */
interface ChangePart {
  kind: RegistryKind;
  value: unknown;
  isPut: boolean;
}

/** Returns the entries of a change, the source first, because the destination may name it; none of an invalid one. */
function toParts(change: RegistryChange): ChangePart[] {
  const { put, remove } = Object(change) as Record<'put' | 'remove', object | undefined>;
  if (put && remove) return [];
  const parts = Object.entries({ ...put, ...remove }).filter(([, value]) => value !== undefined);
  return parts
    .map(([kind, value]): ChangePart => ({ kind: kind as RegistryKind, value, isPut: Boolean(put) }))
    .sort(({ kind }) => (kind === 'source' ? -1 : 1));
}

/** Returns the fault of a value whose accessor threw an error. */
function cannotBeRead(error: unknown): string {
  return `cannot be read: ${errorMessage(error)}`;
}

/**
 * Resolves the application's registry from any of its modules.
 * @throws {OptionsError} if no module provides the registry or one of its dependencies, or if it is not a registry
 */
async function resolveRegistry(
  provider: DestinationRegistryProvider,
  moduleRef: ModuleRef,
): Promise<DestinationRegistry> {
  const registry = await instantiate(provider, moduleRef);
  if (!isDestinationRegistry(registry)) {
    throw new OptionsError('WebhookDestinationModule', ['registry must have a load() method']);
  }
  const { changes$ } = registry;
  if (changes$ && typeof (changes$ as Partial<typeof changes$>).subscribe !== 'function') {
    throw new OptionsError('WebhookDestinationModule', ['changes$ of the registry must be an Observable']);
  }
  return registry;
}

async function instantiate(provider: DestinationRegistryProvider, moduleRef: ModuleRef): Promise<unknown> {
  if ('useValue' in provider) return provider.useValue;
  if ('useExisting' in provider) return find(provider.useExisting, moduleRef);
  if ('useClass' in provider) {
    try {
      return moduleRef.get(provider.useClass, { strict: false });
    } catch {
      return moduleRef.create(provider.useClass);
    }
  }
  const dependencies = (provider.inject ?? []).map((dependency): unknown => {
    const isDetailed = typeof dependency === 'object' && 'token' in dependency;
    return isDetailed ? find(dependency.token, moduleRef, dependency.optional) : find(dependency, moduleRef);
  });
  return provider.useFactory(...dependencies);
}

function find(token: InjectionToken, moduleRef: ModuleRef, isOptional = false): unknown {
  try {
    return moduleRef.get(token, { strict: false });
  } catch (error) {
    if (isOptional) return undefined;
    const name = typeof token === 'function' ? token.name : String(token);
    throw new OptionsError('WebhookDestinationModule', [`registry needs ${name}, which no module provides`], {
      cause: error,
    });
  }
}
