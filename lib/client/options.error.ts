import { ValidationError } from './message/validation.error.js';

/**
 * Thrown for invalid options. Names each option and the rule it breaks, never its value. Its code is `options_invalid`.
 */
export class OptionsError extends ValidationError {
  override readonly name = 'OptionsError';
  /** One line for each broken rule. */
  readonly faults: string[];

  /** @param subject Owner of the options, such as `AnalyticsModule`. */
  constructor(subject: string, faults: string[], options?: { cause?: unknown; field?: string }) {
    const list = faults.length === 1 ? faults[0]! : faults.map((fault) => `\n  - ${fault}`).join('');
    super({ field: options?.field ?? subject, code: 'options_invalid', message: `${subject}: ${list}` }, options);
    this.faults = faults;
  }
}

/** Returns the error of options with faults, each as `path rule`. Its `field` is the path of the first. */
export function invalidOptions(subject: string, faults: string[]): OptionsError {
  return new OptionsError(subject, faults, { field: faults[0]!.split(' ', 1)[0] });
}

/** @throws {OptionsError} if there are faults, each as `path rule`. */
export function throwFaults(subject: string, faults: string[]): void {
  if (faults.length > 0) throw invalidOptions(subject, faults);
}
