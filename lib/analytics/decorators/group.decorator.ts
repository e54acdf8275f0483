import type { GroupParams } from '../../client/index.js';
import { recordCall } from './record.decorator.js';
import type { RecordedMethod, GroupOptions } from './record-options.interface.js';

/**
 * Records that a user belongs to a group, at the end of each call of a method; otherwise as `@Track`.
 *
 * @example
 * ```ts
 * @Group<TeamsService['join']>({ groupId: ({ args: [team] }) => team.id, traits: ({ args: [team] }) => ({ name: team.name }) })
 * ```
 */
export function Group<M extends RecordedMethod = RecordedMethod>(options: GroupOptions<M> = {}): MethodDecorator {
  return recordCall(options, (analytics, message) => analytics.group(message as GroupParams));
}
