export const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== '';

export const isPositiveNumber = (value: unknown): value is number => Number.isFinite(value) && (value as number) > 0;

export const isPositiveInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0;

/** Parses JSON; returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
