import { errorMessage } from '../../../client/error.util.js';
import type { LimitedLogger } from '../../../common/limited.logger.js';
import { type ErrorCode, STATUSES } from '../../../client/error.codes.js';
import { RequestError } from '../../http/request.error.js';
import { unknownEndpoint } from '../tenant.endpoints.js';

/** Rules of URLs that name options or networks of the operator, each with the text for a tenant. */
const URL_RULES: [rule: RegExp, text: string][] = [
  [/deniedNetworks|allowedNetworks/, 'must not be a private, local or otherwise refused address'],
  [/httpsOnly/, 'must be an https URL'],
  [/headers must be given again/, 'cannot be on another origin: the application has set headers for this endpoint'],
];

/** Texts for a tenant by the code of an error, whose own message may name destinations and options of the operator. */
const TEXTS: Partial<Record<ErrorCode, string>> = {
  registry_conflict: 'the endpoint was changed by others meanwhile; try again',
  registry_unreadable: 'the endpoint cannot be changed at present',
  not_delivering: 'no webhook can be sent from here at present; try again later',
  too_many_searches: 'other searches take long; try again',
  queue_unavailable: 'the service is unavailable; try again later',
  queue_full: 'the service is unavailable; try again later',
  starting: 'the service is starting; try again',
  closed: 'the service is shutting down; try again',
};

/** Returns the answer to a tenant for an error, which may come from another build of this package. */
export function toTenantFault(error: unknown, logger: LimitedLogger): RequestError {
  if (error instanceof RequestError) return error;
  const { code, faults, message } = Object(error) as { code: ErrorCode; faults?: string[]; message: string };
  if (code === 'options_invalid' && faults?.[0] !== undefined) return toFieldFault(faults[0]);
  if (code === 'destination_unknown') return unknownEndpoint();
  if (code === 'argument_invalid') return new RequestError(code, message, undefined, 400);
  const text = TEXTS[code];
  if (text !== undefined) return new RequestError(code, text, undefined, STATUSES.get(code));
  logger.limited('error', `A request to the portal failed: ${errorMessage(error)}`);
  return new RequestError('failed', 'the request failed');
}

/** @param fault as `path rule` */
function toFieldFault(fault: string): RequestError {
  const [path = ''] = fault.split(' ', 1);
  const told = URL_RULES.find(([rule]) => rule.test(fault))?.[1];
  const field = told !== undefined || path.startsWith('urls') ? 'url' : path;
  return new RequestError(
    'options_invalid',
    `${field}${told === undefined ? fault.slice(path.length) : ` ${told}`}`,
    field,
    400,
  );
}
