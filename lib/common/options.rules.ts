import { ValidateBy, ValidateIf, validateSync, type ValidationError } from 'class-validator';

/** Rules that the decorators below set for an option. */
interface OptionRule {
  /** Whether its rules apply. */
  applies: (options: object) => boolean;
  holds: ((value: unknown) => boolean)[];
}

/** Rules of each options class, by prototype. */
const rulesOf = new WeakMap<object, Map<PropertyKey, OptionRule>>();

function ruleOf(options: object, name: PropertyKey): OptionRule {
  const rules = rulesOf.get(options) ?? new Map<PropertyKey, OptionRule>();
  rulesOf.set(options, rules);
  const rule = rules.get(name) ?? { applies: () => true, holds: [] };
  rules.set(name, rule);
  return rule;
}

function applyIf(condition: (options: object, value: unknown) => boolean): PropertyDecorator {
  return (options, name) => {
    ruleOf(options, name).applies = (given) => condition(given, (given as Record<PropertyKey, unknown>)[name]);
    ValidateIf(condition)(options, name);
  };
}

/** Decorator for an option: the error names the option and the rule. */
export function Must(rule: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return (options, name) => {
    ruleOf(options, name).holds.push(holds);
    ValidateBy({ name: rule, validator: { validate: holds, defaultMessage: () => `must ${rule}` } })(options, name);
  };
}

/** Decorator for an optional option: `undefined` selects the default, and `null` breaks the rule. */
export function IfGiven(): PropertyDecorator {
  return applyIf((_options, value) => value !== undefined);
}

/**
 * Decorator for an option without a default: its key may be missing, but `undefined` breaks the rule. It catches unset
 * values that could go unnoticed, such as a secret in an unset `process.env.SECRET`.
 */
export function MustIfPresent(rule: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return (options, name) => {
    applyIf((given) => name in given)(options, name);
    Must(rule, (value) => value === undefined || holds(value))(options, name);
    Must(`${rule}; it is undefined: set it, or leave the key out`, (value) => value !== undefined)(options, name);
  };
}

/**
 * Returns a sparse list of the options that break a rule, each at its index in the given list. Works only for options
 * without decorators other than those above. class-validator, which names the rules, takes 20 times as long.
 */
export function onlyFaulty<T extends object>(type: new () => T, list: readonly T[]): T[] {
  const prototypes: object[] = [];
  for (let one = type.prototype as object; one !== Object.prototype; one = Object.getPrototypeOf(one) as object) {
    prototypes.push(one);
  }
  const rules = new Map(prototypes.flatMap((prototype) => [...(rulesOf.get(prototype) ?? [])]));
  const faulty: T[] = [];
  list.forEach((options, index) => {
    if (!(options instanceof type && isFaultless(options, rules))) faulty[index] = options;
  });
  return faulty;
}

function isFaultless(options: object, rules: ReadonlyMap<PropertyKey, OptionRule>): boolean {
  for (const name of Object.keys(options)) if (!rules.has(name)) return false;
  for (const [name, { applies, holds }] of rules) {
    if (!applies(options)) continue;
    const value = (options as Record<PropertyKey, unknown>)[name];
    for (const passes of holds) if (!passes(value)) return false;
  }
  return true;
}

/**
 * Converts options to an instance of their class, so that its decorators apply. `undefined` selects the default if
 * there is one. A value that is not an object is returned as it is, and breaks the rules.
 */
export function toOptions<T extends object>(type: new () => T, given: unknown): T {
  const options = new type();
  if (given === undefined) return options;
  if (typeof given !== 'object' || given === null) return given as T;
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined || !Object.hasOwn(options, name)) (options as Record<string, unknown>)[name] = value;
  }
  return options;
}

/** Returns the fault of module options that are not an object, for example if a factory lacks a `return`. */
export function findAbsence(given: unknown): string[] {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return [];
  const kind = given === null ? 'null' : Array.isArray(given) ? 'an array' : typeof given;
  return [`the options must be an object; received ${kind} from forRoot, useFactory or useClass`];
}

/** Returns each rule that an options instance, or an instance in it, breaks, as `path rule`. */
export function findOptionFaults(options: object): string[] {
  return validateSync(options, { whitelist: true, forbidNonWhitelisted: true }).flatMap((error) => toFaults(error, ''));
}

function toFaults({ property, constraints = {}, children = [] }: ValidationError, parent: string): string[] {
  const path = /^\d+$/.test(property) ? `${parent}[${property}]` : parent ? `${parent}.${property}` : property;
  const rules = Object.entries(constraints).map(([name, message]) =>
    name === 'whitelistValidation' ? 'is not a known option' : message,
  );
  return [...rules.map((rule) => `${path} ${rule}`), ...children.flatMap((child) => toFaults(child, path))];
}
