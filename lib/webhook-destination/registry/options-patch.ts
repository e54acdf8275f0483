/** For each field: true if it may be changed, or else the rule that forbids it. */
export type PatchRules<T> = Record<keyof T, true | string>;

/** Returns the options with a patch applied. `undefined` leaves a field unchanged; `null` restores its default. */
export function patched<T extends object>(options: T, patch: object): T {
  const changed = {
    ...options,
    ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
  };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null)) as T;
}

/** Returns the fields of the patch that may not be changed, each with its rule. */
export function findPatchFaults<T>(patch: unknown, rules: PatchRules<T>): string[] {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return ['patch must be an object'];
  return Object.keys(patch).flatMap((field) => {
    const rule = Object.hasOwn(rules, field) ? rules[field as keyof T] : 'is not a known option';
    return rule === true ? [] : [`${field} ${rule}`];
  });
}
