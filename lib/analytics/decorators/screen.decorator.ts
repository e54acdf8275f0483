import type { ScreenParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type { RecordedMethod, MappedField, PageOptions } from './record-options.interface.js';

/**
 * Records that a user saw a screen of an app, at the end of each call of a method; otherwise as `@Track`.
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
