import { ValidateNested } from 'class-validator';

import { Must, toOptions } from '../../common/options.rules.js';
import { type IdentityResolver, identityOfUser } from './ambient-identity.js';
import { ContextOptions, noContext } from './context.options.js';

/** The rules and defaults of `AmbientOptions`. */
export class CheckedAmbientOptions {
  @Must('be a function of the request', (value) => typeof value === 'function')
  identity: IdentityResolver = identityOfUser;

  @Must('be true or false', (value) => typeof value === 'boolean')
  anonymous: boolean = true;

  @ValidateNested({ message: 'must be true, false or an object of switches' })
  context: ContextOptions = new ContextOptions();
}

/** The switches that the option `context` stands for. */
export function toContextOptions(given: unknown): ContextOptions {
  if (typeof given !== 'boolean') return toOptions(ContextOptions, given);
  return given ? new ContextOptions() : noContext();
}
