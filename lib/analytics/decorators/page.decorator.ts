import type { PageParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type { RecordedMethod, MappedField, PageOptions } from './record-options.interface.js';

/**
 * Records that a user saw a page, at the end of each call of a method; otherwise as `@Track`.
 * The page's path, URL and referrer are in the ambient context.
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
