import { type ApiError, toSentence } from './api.error.js';

interface FieldFaults {
  /** A sentence for each invalid field. */
  byField: Record<string, string>;
  /** The error, unless each of its faults belongs to a field. */
  rest: ApiError | undefined;
}

/**
 * Assigns the faults of an error to the fields of a form. The API names all refused options at once, each as `field
 * rule`.
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

/** Removes the name of the field, because the rule is shown at the field. */
function toRule(text: string, field: string): string {
  return toSentence(new Error(text.startsWith(`${field} `) ? text.slice(field.length + 1) : text));
}

function faultsOf({ field = '', message }: ApiError): { field: string; text: string }[] {
  const [, ...lines] = message.split('\n  - ');
  if (lines.length > 0) return lines.map((text) => ({ field: text, text }));
  const start = message.indexOf(`: ${field} `);
  return [{ field, text: start < 0 ? message : message.slice(start + 2) }];
}
