import type { KeptRefusal } from '../../../lib/webhook-destination/queue/kept-refusals.js';
import { get, path } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { Button } from '../../components/button.component.js';
import { Dialog } from '../../components/dialog.component.js';
import { JsonView } from '../../components/json-view.component.js';
import { Problem } from '../../components/problem.component.js';

interface RefusedTextDialogProps {
  source: string;
  refusal: KeptRefusal;
  onClose: () => void;
}

/** The text of a refused message, as far as it is kept. */
export function RefusedTextDialog({ source, refusal: { id, message }, onClose }: RefusedTextDialogProps) {
  const { answer, error, reload } = useAnswer(
    (signal) => get<KeptRefusal & { text: string }>(path`refusals/${id}`, { query: { source }, signal }),
    id,
  );
  return (
    <Dialog title="Refused message" onClose={onClose}>
      <p>{message}</p>
      <Problem error={error} onRetry={reload} />
      {answer && answer.text !== '' && <JsonView name="Text" text={answer.text} />}
      {answer && !answer.isWhole && (
        <p class="hint">
          {answer.text === '' ? 'Its text was not read.' : 'Only its first 32 KB are kept.'} It cannot be resubmitted.
        </p>
      )}
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
