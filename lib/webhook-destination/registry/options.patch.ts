/** For each field: whether it may be changed, or else the rule. */
export type PatchRules<T> = Record<keyof T, true | string>;

/** The options with the fields of a patch: undefined leaves one as it is, null removes it, so its default applies. */
export function patched<T extends object>(options: T, patch: object): T {
  const changed = {
    ...options,
    ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
  };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== null)) as T;
}

/** Fields that may not be changed, each with its rule. */
export function findPatchFaults<T>(patch: unknown, rules: PatchRules<T>): string[] {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return ['the patch must be an object'];
  return Object.keys(patch).flatMap((field) => {
    const rule = Object.hasOwn(rules, field) ? rules[field as keyof T] : 'is not an option';
    return rule === true ? [] : [`${field} ${rule}`];
  });
}
