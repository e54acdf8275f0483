import type { AliasParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type { RecordedMethod, AliasOptions } from './record-options.interface.js';

/**
 * Records that two ids are of the same user, at the end of each call of a method; otherwise as `@Track`.
 *
 * @example
 * ```ts
 * @Alias<UsersService['merge']>({ previousId: ({ args: [from] }) => from, userId: ({ args: [, to] }) => to })
 * ```
 */
export function Alias<M extends RecordedMethod = RecordedMethod>(options: AliasOptions<M> = {}): MethodDecorator {
  return recordCall(options, (analytics, message) => analytics.alias(message as AliasParams));
}
