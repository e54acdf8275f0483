import { ValidateBy, ValidateIf, validateSync, type ValidationError, type ValidationOptions } from 'class-validator';

/** A decorator for an option: the rule in words follows the option's name in the error. */
export function Must(rule: string, holds: (value: unknown) => boolean, options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    { name: `must ${rule}`, validator: { validate: holds, defaultMessage: () => `must ${rule}` } },
    options,
  );
}

/** A decorator for an option that need not be given: `undefined` breaks no rule, and `null` does. */
export function IfGiven(): PropertyDecorator {
  return ValidateIf((_options: object, value: unknown) => value !== undefined);
}

/**
 * An instance of an options class, so that its decorators apply; `undefined` counts as not given.
 * What is no object stays as it is, for the rules to refuse.
 */
export function toOptions<T extends object>(type: new () => T, given: unknown): T {
  const options = new type();
  if (given === undefined) return options;
  if (typeof given !== 'object' || given === null) return given as T;
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) (options as Record<string, unknown>)[name] = value;
  }
  return options;
}

/** Each broken rule of an options instance and of the instances in it, as `path rule`. */
export function findOptionFaults(options: object): string[] {
  return validateSync(options, { whitelist: true, forbidNonWhitelisted: true }).flatMap((error) => toFaults(error, ''));
}

function toFaults({ property, constraints = {}, children = [] }: ValidationError, parent: string): string[] {
  const path = /^\d+$/.test(property) ? `${parent}[${property}]` : parent ? `${parent}.${property}` : property;
  const rules = Object.entries(constraints).map(([name, message]) =>
    name === 'whitelistValidation' ? 'is not an option' : message,
  );
  return [...rules.map((rule) => `${path} ${rule}`), ...children.flatMap((child) => toFaults(child, path))];
}
