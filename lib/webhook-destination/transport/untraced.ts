import { type Channel, channel } from 'node:diagnostics_channel';

import { contextManager } from '../../client/telemetry/open-telemetry.global.js';

const SUPPRESS_TRACING = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Channel on which undici announces each request before it is sent, and agents add headers to it. */
const created = channel('undici:request:create');

/** Whether the relay makes the current request. */
let isOwn = false;
let isGuarded = false;

/**
 * Connects to a receiver, or runs an application's transport, without OpenTelemetry's instrumentation, which would
 * create spans and add headers.
 */
export function untraced<T>(send: () => T): T {
  const manager = contextManager();
  return manager ? manager.with(manager.active().setValue(SUPPRESS_TRACING, true), send) : send();
}

/**
 * Makes a request that undici does not announce: no agent creates a span for it or adds headers.
 *
 * @param dispatch makes the request synchronously
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

/** Makes the channel omit the relay's requests, because only the channel knows its subscribers. */
function guard(): void {
  if (isGuarded) return;
  isGuarded = true;
  // The other build of the package may have replaced it already. Otherwise it is the prototype's, which changes with
  // the number of subscribers.
  const earlier = Object.getOwnPropertyDescriptor(created, 'publish')?.value as Channel['publish'] | undefined;
  created.publish = (message) => {
    if (!isOwn) (earlier ?? (Object.getPrototypeOf(created) as Channel).publish).call(created, message);
  };
}
