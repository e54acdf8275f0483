import type { HttpAdapterHost } from '@nestjs/core';

import { OptionsError } from '../../common/options.error.js';
import { within } from '../../common/time.util.js';
import type { AdminGate } from './admin.gate.js';
import { createAnonymousRequest } from './anonymous-request.js';
import { httpContext } from './http-context.util.js';

/** Time limit for a guard to refuse a request, in ms. */
const PROBE_TIME = 5_000;

/**
 * Tests the gate with an anonymous request. Guards that read metadata, such as the `RolesGuard` of Nest's
 * documentation, find none outside the application's controllers, and many then admit everyone.
 *
 * @throws {OptionsError} if the gate admits the request or does not answer.
 */
export async function probeGate(
  gate: AdminGate,
  adapter: HttpAdapterHost['httpAdapter'] | undefined,
  path: string,
): Promise<void> {
  const { platform, answered } = createAnonymousRequest(adapter, path);
  const admitted = gate.authenticate(httpContext(...platform)).then(
    () => true,
    () => false, // any error counts as a refusal
  );
  const decided = Promise.race([admitted, answered.then(() => false)]);
  const isOpen = await within(PROBE_TIME, decided, 'admin.guard').catch(() => {
    throw fault(`must answer an anonymous request within ${PROBE_TIME / 1_000} s`);
  });
  if (isOpen) {
    throw fault(
      'must refuse an anonymous request, but admitted one. A guard that reads roles from metadata finds none on the ' +
        'admin routes: use one that checks only the caller',
    );
  }
}

const fault = (rule: string) => new OptionsError('WebhookDestinationModule', [`admin.guard ${rule}`]);
