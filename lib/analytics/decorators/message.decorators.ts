import type { AliasParams, GroupParams, IdentifyParams, PageParams, ScreenParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type {
  AliasOptions,
  GroupOptions,
  IdentifyOptions,
  MappedField,
  PageOptions,
  RecordedMethod,
} from './record-options.interface.js';

/**
 * Records who a user is, with their traits, at the end of each call of a method. Otherwise works like `@Track`.
 *
 * @example
 * ```ts
 * @Identify<UsersService['signUp']>({ userId: ({ result }) => result.id, traits: ({ result }) => ({ plan: result.plan }) })
 * ```
 */
export function Identify<M extends RecordedMethod = RecordedMethod>(options: IdentifyOptions<M> = {}): MethodDecorator {
  return recordCall(options, (analytics, message) => analytics.identify(message as IdentifyParams));
}

/**
 * Records that a user saw a page, at the end of each call of a method. Otherwise works like `@Track`. The page's path,
 * URL and referrer come from the ambient context.
 *
 * @example
 * ```ts
 * @Page('Pricing', { properties: { variant: 'b' } })
 * ```
 */
export function Page<M extends RecordedMethod = RecordedMethod>(
  name?: MappedField<string | undefined, M>,
  options: PageOptions<M> = {},
): MethodDecorator {
  return recordCall({ ...options, name }, (analytics, message) => analytics.page(message as PageParams));
}

/**
 * Records that a user saw a screen of an app, at the end of each call of a method. Otherwise works like `@Track`.
 *
 * @example
 * ```ts
 * @Screen('Basket', { userId: ({ args: [user] }) => user.id })
 * ```
 */
export function Screen<M extends RecordedMethod = RecordedMethod>(
  name?: MappedField<string | undefined, M>,
  options: PageOptions<M> = {},
): MethodDecorator {
  return recordCall({ ...options, name }, (analytics, message) => analytics.screen(message as ScreenParams));
}

/**
 * Records that a user belongs to a group, at the end of each call of a method. Otherwise works like `@Track`.
 *
 * @example
 * ```ts
 * @Group<TeamsService['join']>({ groupId: ({ args: [team] }) => team.id, traits: ({ args: [team] }) => ({ name: team.name }) })
 * ```
 */
export function Group<M extends RecordedMethod = RecordedMethod>(options: GroupOptions<M> = {}): MethodDecorator {
  return recordCall(options, (analytics, message) => analytics.group(message as GroupParams));
}

/**
 * Records that two ids belong to the same user, at the end of each call of a method. Otherwise works like `@Track`.
 *
 * @example
 * ```ts
 * @Alias<UsersService['merge']>({ previousId: ({ args: [from] }) => from, userId: ({ args: [, to] }) => to })
 * ```
 */
export function Alias<M extends RecordedMethod = RecordedMethod>(options: AliasOptions<M> = {}): MethodDecorator {
  return recordCall(options, (analytics, message) => analytics.alias(message as AliasParams));
}
