import { type ApiError, toSentence } from './api.error.js';

export interface FieldFaults {
  /** A sentence for each field at fault. */
  byField: Record<string, string>;
  /** The error, unless all of it belongs to fields. */
  rest: ApiError | undefined;
}

/**
 * What an error says of the fields of a form: refused options are named all at once, each as `field rule`.
 *
 * @param fields names of the form's fields
 */
export function toFieldFaults(error: ApiError | undefined, fields: readonly string[]): FieldFaults {
  if (!error) return { byField: {}, rest: undefined };
  const byField: Record<string, string> = {};
  let hasRest = false;
  for (const fault of faultsOf(error)) {
    const field = fields.find((name) => new RegExp(`^${name}\\b`).test(fault.field));
    if (field) byField[field] ??= toRule(fault.text, field);
    else hasRest = true;
  }
  return { byField, rest: hasRest ? error : undefined };
}

/** The name is that of the field where the rule stands. */
function toRule(text: string, field: string): string {
  return toSentence(new Error(text.startsWith(`${field} `) ? text.slice(field.length + 1) : text));
}

function faultsOf({ field = '', message }: ApiError): { field: string; text: string }[] {
  const [, ...lines] = message.split('\n  - ');
  if (lines.length > 0) return lines.map((text) => ({ field: text, text }));
  const start = message.indexOf(`: ${field} `);
  return [{ field, text: start < 0 ? message : message.slice(start + 2) }];
}
