import type { Attempt } from '../api/portal.answers.js';
import { words } from '../words/words.js';
import { CodeView } from './code-view.component.js';
import { toDuration } from './time.component.js';

/** Number of bytes of an answer that are kept. */
const KEPT = 1_024;

const LOOKS = { success: 'good', temporary: 'warn', permanent: 'bad' };

/** How an attempt ended, after how long, and what the endpoint answered. */
export function AttemptResult({ attempt }: { attempt: Attempt }) {
  const { outcome, duration, answer } = attempt;
  return (
    <>
      <p>
        <span class={`badge ${LOOKS[outcome]}`}>{answerOf(attempt)}</span>{' '}
        {words.attempt[outcome](toDuration(duration))}
      </p>
      {answer && <Answer answer={answer} />}
    </>
  );
}

/** Returns the status, or in a few words why there was none. */
export function answerOf({ status, error }: Attempt): string {
  if (status !== undefined) return words.attempt.status(status);
  return (error && words.attempt.errors[error]) ?? words.attempt.noAnswer;
}

function Answer({ answer: { type, text, bytes } }: { answer: NonNullable<Attempt['answer']> }) {
  const all = words.attempt.bytes(bytes);
  if (text === undefined) return <p class="muted">{words.attempt.notText([type, all].filter(Boolean).join(', '))}</p>;
  const facts = [type, bytes > KEPT ? words.attempt.first(all) : all].filter(Boolean).join(', ');
  return <CodeView name={words.attempt.answer(facts)} text={text.replaceAll('\r\n', '\n')} />;
}
