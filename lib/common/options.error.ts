import { RelayError } from '../client/relay.error.js';

/** Stops the application at bootstrap: names each wrong option and the rule it breaks, never its value. */
export class OptionsError extends RelayError {
  override readonly name = 'OptionsError';
  /** One line for each broken rule. */
  readonly faults: string[];

  constructor(subject: string, faults: string[], options?: { cause?: unknown }) {
    const list = faults.length === 1 ? faults[0]! : faults.map((fault) => `\n  - ${fault}`).join('');
    super('options_invalid', `${subject}: ${list}`, options);
    this.faults = faults;
  }
}
