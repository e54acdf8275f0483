import { KeptAnswer } from '../../components/kept-answer.component.js';
import { PlainText } from '../../components/plain-text.component.js';
import { Duration, toDuration } from '../../components/time.component.js';
import { answerOf, OUTCOMES } from './attempt-answer.component.js';
import type { AttemptRecord, Delivery } from './delivery.answer.js';
import { Step } from './step.component.js';

/** All attempts, with the replay as a step between them. */
export function Attempts({ delivery: { attempts, firstAttemptAt } }: { delivery: Delivery }) {
  // A replay begins a new retry window: attempts older than the window were made before the replay.
  const before = attempts.filter(({ startedAt }) => firstAttemptAt !== undefined && startedAt < firstAttemptAt).length;
  const step = (attempt: AttemptRecord, index: number) => (
    <Attempt key={index} attempt={attempt} number={index + 1} previous={attempts[index - 1]} />
  );
  return (
    <>
      {attempts.slice(0, before).map(step)}
      {before > 0 && (
        <Step title="Replayed" at={firstAttemptAt}>
          <p>A new retry window began.</p>
        </Step>
      )}
      {attempts.slice(before).map((attempt, index) => step(attempt, before + index))}
    </>
  );
}

interface AttemptProps {
  attempt: AttemptRecord;
  number: number;
  previous: AttemptRecord | undefined;
}

function Attempt({ attempt: { startedAt, results }, number, previous }: AttemptProps) {
  const last = results.some(({ outcome }) => outcome === 'success')
    ? OUTCOMES.success
    : results.some(({ outcome }) => outcome === 'temporary')
      ? OUTCOMES.temporary
      : OUTCOMES.permanent;
  return (
    <Step title={`Attempt ${number}`} at={startedAt} look={results.length > 0 ? last.look : 'calm'}>
      {previous && <p class="hint">{toDuration(startedAt - previous.startedAt)} after the previous attempt.</p>}
      {results.length === 0 && <p>Nothing was sent: the destination's transform returned nothing.</p>}
      {results.map(({ url, outcome, status, error, duration, answer }) => (
        <dl class="result" key={url}>
          <dt class="mono">
            <PlainText value={url} />
          </dt>
          <dd>
            <span class={`badge ${OUTCOMES[outcome].look}`}>{answerOf({ status })}</span> {OUTCOMES[outcome].text},
            after <Duration ms={duration} />
            {error !== undefined && (
              <div class="muted">
                <PlainText value={error} max={1_000} />
              </div>
            )}
            {answer && <KeptAnswer answer={answer} />}
          </dd>
        </dl>
      ))}
    </Step>
  );
}
