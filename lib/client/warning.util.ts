import { toPrintableLines } from './printable.util.js';

/** Emits a process warning of this library, which Node writes to the standard error stream. */
export function emitWarning(text: string): void {
  process.emitWarning(toPrintableLines(text), 'AnalyticsWarning');
}
