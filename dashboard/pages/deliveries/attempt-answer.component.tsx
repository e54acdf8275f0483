import { PlainText } from '../../components/plain-text.component.js';
import type { AttemptRecord } from './delivery.answer.js';

/** Text and look of each outcome. */
export const OUTCOMES = {
  success: { text: 'success', look: 'good' },
  temporary: { text: 'retryable failure', look: 'warn' },
  permanent: { text: 'permanent failure', look: 'bad' },
} as const;

/** The answers of the receiver: for each URL its status, or why there was no answer. */
export function AttemptAnswer({ attempt }: { attempt: AttemptRecord | undefined }) {
  if (!attempt) return <span class="muted">no attempt</span>;
  if (attempt.results.length === 0) return <span class="muted">nothing sent</span>;
  return (
    <>
      {attempt.results.map(({ url, status, error }) => (
        <div key={url}>
          <PlainText value={answerOf({ status, error })} max={80} />
        </div>
      ))}
    </>
  );
}

/** Returns the status, such as `HTTP 404`, or the error, such as `connection refused`. */
export function answerOf({ status, error }: { status?: number | undefined; error?: string | undefined }): string {
  return status === undefined ? (error ?? 'no answer') : `HTTP ${status}`;
}
