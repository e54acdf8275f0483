/** Stops the application at bootstrap: names each wrong option and the rule it breaks, never its value. */
export class OptionsError extends Error {
  /** One line for each broken rule. */
  readonly faults: string[];

  constructor(subject: string, faults: string[]) {
    super(`${subject}: ${faults.length === 1 ? faults[0]! : faults.map((fault) => `\n  - ${fault}`).join('')}`);
    this.name = 'OptionsError';
    this.faults = faults;
  }
}
