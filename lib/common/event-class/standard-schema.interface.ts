/**
 * Interface that schemas of zod, valibot, arktype and others share: the part of Standard Schema, version 1, that is
 * used here (https://standardschema.dev).
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Present on schemas with a JSON Schema (Standard JSON Schema). */
    readonly jsonSchema?: { readonly input: (options: { target: string }) => Record<string, unknown> } | undefined;
  };
}

/** The result of a validation: the parsed value, or the issues. */
export type StandardResult<Output = unknown> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

/** One fault that a schema reports. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Input type of a schema; without `types`, as in a schema written by hand, its output type. */
export type StandardInput<Input, Output> = unknown extends Input ? Output : Input;

/** Whether a value is a Standard Schema: an object, or with arktype a function. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const { '~standard': standard } = value as Partial<StandardSchemaV1>;
  return standard?.version === 1 && typeof standard.validate === 'function';
}
