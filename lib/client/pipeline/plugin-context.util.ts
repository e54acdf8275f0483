import { Context } from '../event/context.js';

// Checked by shape, because a context may come from the package's other build.
export function isContext(value: unknown): value is Context {
  return typeof (value as Context | undefined)?.serialize === 'function';
}

/** Copies the event in its current state, so that a plugin still running cannot change it. */
export function detach(ctx: Context): Context {
  const detached = new Context(ctx.serialize());
  detached.logs().push(...ctx.logs());
  return detached;
}
