/** Gives every ES module the NestJS of this folder. */
export function resolve(specifier, context, next) {
  return next(specifier, specifier.startsWith('@nestjs/') ? { ...context, parentURL: import.meta.url } : context);
}
