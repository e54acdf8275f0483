import type { IdentifyParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type { RecordedMethod, IdentifyOptions } from './record-options.interface.js';

/**
 * Records who a user is, and what is known of them, at the end of each call of a method; otherwise as `@Track`.
 *
 * @example
 * ```ts
 * @Identify<UsersService['signUp']>({ userId: ({ result }) => result.id, traits: ({ result }) => ({ plan: result.plan }) })
 * ```
 */
export function Identify<M extends RecordedMethod = RecordedMethod>(options: IdentifyOptions<M> = {}): MethodDecorator {
  return recordCall(options, (analytics, message) => analytics.identify(message as IdentifyParams));
}
