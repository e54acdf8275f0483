import { foundOnce } from './found-once.util.js';

/** The rules of one option, which the decorators below set. */
class OptionRules {
  /** Whether the rules apply. */
  applies: (options: object) => boolean = () => true;
  /** Each returns the rules that a value breaks. */
  readonly checks: ((value: unknown) => string[])[] = [];
  /** Rule of a value, or an item of a list, that is not an object with options of its own. */
  nested: string | undefined;
  isList = false;
}

/** Rules of the options that a class declares, by prototype. */
const declared = foundOnce((_prototype: object) => new Map<PropertyKey, OptionRules>(), new WeakMap());

/** Rules of the options that a class declares, then those of its base classes. */
const allRulesOf = foundOnce((prototype: object): ReadonlyMap<PropertyKey, OptionRules> => {
  const base = Object.getPrototypeOf(prototype) as object | null;
  return new Map([...declared(prototype), ...(base ? allRulesOf(base) : [])]);
}, new WeakMap());

function rulesOf(options: object, name: PropertyKey): OptionRules {
  const rules = declared(options).get(name) ?? new OptionRules();
  declared(options).set(name, rules);
  return rules;
}

/** Decorator for an option that is checked elsewhere. Options without a decorator are not known. */
export function Known(): PropertyDecorator {
  return (options, name) => void rulesOf(options, name);
}

/** Decorator for an option whose other rules apply only under a condition. */
export function AppliesIf(condition: (options: object, value: unknown) => boolean): PropertyDecorator {
  return (options, name) => {
    rulesOf(options, name).applies = (given) => condition(given, (given as Record<PropertyKey, unknown>)[name]);
  };
}

/** Decorator for an option: the error names the option and the rule. */
export function Must(rule: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return MustPass((value) => (holds(value) ? [] : [rule]));
}

/** Decorator for an option that is on or off. */
export function MustBeBoolean(): PropertyDecorator {
  return Must('be true or false', (value) => typeof value === 'boolean');
}

/** Decorator for an option whose rules name the part at fault: `findBroken` returns those that a value breaks. */
export function MustPass(findBroken: (value: unknown) => string[]): PropertyDecorator {
  return (options, name) => void rulesOf(options, name).checks.push(findBroken);
}

/** Decorator for an option with options of its own. Their class has the rules. */
export function MustNest(rule: string): PropertyDecorator {
  return (options, name) => void (rulesOf(options, name).nested = rule);
}

/** Decorator for an array of objects with options of their own. Their class has the rules; `rule` is that of an item. */
export function MustList(rule: string): PropertyDecorator {
  return (options, name) => {
    Must('be an array', Array.isArray)(options, name);
    MustNest(rule)(options, name);
    rulesOf(options, name).isList = true;
  };
}

/** Decorator for an optional option: `undefined` selects the default, and `null` breaks the rule. */
export function IfGiven(): PropertyDecorator {
  return AppliesIf((_options, value) => value !== undefined);
}

/**
 * Decorator for an option without a default: its key may be missing, but `undefined` breaks the rule. It catches unset
 * values that could go unnoticed, such as a secret in an unset `process.env.SECRET`.
 */
export function MustIfPresent(rule: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return (options, name) => {
    AppliesIf((given) => name in given)(options, name);
    Must(rule, (value) => value === undefined || holds(value))(options, name);
    Must(`${rule}; it is undefined: set it, or leave the key out`, (value) => value !== undefined)(options, name);
  };
}

/** Decorator for an option of `forRootAsync` that the module needs before the factory runs. */
export function NextToFactory(): PropertyDecorator {
  return (options, name) => {
    AppliesIf((given) => name in given)(options, name);
    Must('be set next to useFactory, not in the options it returns', () => false)(options, name);
  };
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
    if (value === undefined && Object.hasOwn(options, name)) continue;
    // Assigning `__proto__` would replace the rules of the class.
    Object.defineProperty(options, name, { value, writable: true, enumerable: true, configurable: true });
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
export function findOptionFaults(options: object, parent = ''): string[] {
  const rules = allRulesOf(Object.getPrototypeOf(options) as object);
  const faults: string[] = [];
  for (const name of Object.keys(options)) if (!rules.has(name)) faults.push(`${parent}${name} is not a known option`);
  for (const [name, { applies, checks, nested, isList }] of rules) {
    if (!applies(options)) continue;
    const value = (options as Record<PropertyKey, unknown>)[name];
    const path = `${parent}${String(name)}`;
    for (const findBroken of checks) faults.push(...findBroken(value).map((rule) => `${path} must ${rule}`));
    if (nested !== undefined && (!isList || Array.isArray(value)))
      faults.push(...findNestedFaults(value, path, nested));
  }
  return faults;
}

function findNestedFaults(value: unknown, path: string, rule: string): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => findNestedFaults(item, `${path}[${index}]`, rule));
  return typeof value === 'object' && value !== null ? findOptionFaults(value, `${path}.`) : [`${path} must ${rule}`];
}

/**
 * Returns which options, by path, have no fault, neither in a part of them nor in what they are a part of: rules between
 * options apply to these.
 *
 * @param faults each as `path rule`
 */
export function validOptions(faults: string[]): (path: string) => boolean {
  const invalid = faults.map((fault) => fault.split(' ', 1)[0]!);
  const isPart = (path: string, whole: string) => path.startsWith(whole) && /^([.[]|$)/.test(path.slice(whole.length));
  return (path) => !invalid.some((one) => isPart(path, one) || isPart(one, path));
}
