import type { AttemptRecord, UrlResult } from './attempt-record.interface.js';

/** Maximum length of the answers of a delivery, in characters. */
const MAX_LENGTH = 4_096;

/** Returns the attempts followed by a new one, without the answers that are too many: the newest are kept. */
export function withAttempt(attempts: AttemptRecord[], attempt: AttemptRecord): AttemptRecord[] {
  const all = [...attempts, attempt];
  if (!hasAnswer(attempt)) return all;
  let left = MAX_LENGTH;
  const fits = ({ answer }: UrlResult) => (left -= answer?.text?.length ?? 0) >= 0;
  const limit = (one: AttemptRecord) => {
    const results = one.results.map((result) => (fits(result) ? result : withoutAnswer(result)));
    return { ...one, results };
  };
  return all.reverse().map(limit).reverse();
}

/** Returns an attempt, or an event about one, without the receivers' answers: they may contain personal data. */
export function withoutAnswers<T extends Pick<AttemptRecord, 'results'>>(attempt: T): T {
  return hasAnswer(attempt) ? { ...attempt, results: attempt.results.map(withoutAnswer) } : attempt;
}

function hasAnswer({ results }: Pick<AttemptRecord, 'results'>): boolean {
  return results.some(({ answer }) => answer !== undefined);
}

function withoutAnswer({ answer: _, ...result }: UrlResult): UrlResult {
  return result;
}
