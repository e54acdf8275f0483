import { type Channel, channel } from 'node:diagnostics_channel';

import { contextManager } from '../../client/telemetry/open-telemetry.global.js';

const SUPPRESS_TRACING = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Where undici announces each request before it is sent, and agents add headers to it. */
const created = channel('undici:request:create');

/** Whether the request that is being made is one of the relay's. */
let isOwn = false;
let isGuarded = false;

/** Runs what sends a webhook so that the instrumentation of OpenTelemetry makes no span of it, and adds no header. */
export function untraced<T>(send: () => T): T {
  const manager = contextManager();
  return manager ? manager.with(manager.active().setValue(SUPPRESS_TRACING, true), send) : send();
}

/**
 * Makes a request that undici does not announce: other agents than those of OpenTelemetry do not heed {@link untraced}.
 *
 * @param dispatch makes the request before it returns
 */
export function unannounced(dispatch: () => void): void {
  if (!created.hasSubscribers) return dispatch();
  guard();
  isOwn = true;
  try {
    dispatch();
  } finally {
    isOwn = false;
  }
}

/** Only the channel knows its subscribers, so it is the channel that has to leave requests out. */
function guard(): void {
  if (isGuarded) return;
  isGuarded = true;
  // The other build of the package may have been here before. Without that, it is the prototype's, which changes with the
  // number of subscribers.
  const earlier = Object.getOwnPropertyDescriptor(created, 'publish')?.value as Channel['publish'] | undefined;
  created.publish = (message) => {
    if (!isOwn) (earlier ?? (Object.getPrototypeOf(created) as Channel).publish).call(created, message);
  };
}
