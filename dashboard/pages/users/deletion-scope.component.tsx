import { useEffect } from 'preact/hooks';

import type { DeliveryCounts } from '../../../lib/webhook-destination/admin/api/delivery-count.js';
import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { getPortion, useKeyset } from '../../api/keyset.hook.js';
import { countOf } from '../../components/count.util.js';
import { Checkbox, FieldGroup } from '../../components/field-group.component.js';
import { toPlainText } from '../../components/plain-text.util.js';
import { Problem } from '../../components/problem.component.js';

/** Maximum number of sources to choose from. */
const MAX_SOURCES = 500;

export interface DeletionScopeProps {
  userId: string;
  /** Names of the chosen sources. */
  scope: string[] | 'all';
  onScope: (scope: string[] | 'all') => void;
}

/** The sources that a deletion affects, with the user's deliveries of each. Only the sole source is chosen at first. */
export function DeletionScope({ userId, scope, onScope }: DeletionScopeProps) {
  const sources = useAnswer(
    (signal) => getPortion<{ name: string }>('sources', { limit: MAX_SOURCES }, signal),
    'sources',
  );
  const list = useKeyset((cursor, signal) => count(userId, cursor, signal), userId, Infinity);
  const counts = bySource(list.rows);
  const names = sources.answer?.rows.map(({ name }) => name) ?? [];
  const isSole = names.length === 1;
  useEffect(() => {
    if (isSole) onScope(names);
  }, [isSole]);
  const sorted = [...new Set([...counts.keys(), ...names])];
  const toggle = (name: string, isChosen: boolean) => {
    const others = scope === 'all' ? [] : scope.filter((chosen) => chosen !== name);
    onScope(isChosen ? [...others, name] : others);
  };
  const hint = list.isLoading || list.more ? 'Counting has not finished: there may be more.' : undefined;
  return (
    <>
      <FieldGroup label="Sources" hint={hint}>
        <div class="checkboxes scope">
          {sorted.map((name) => (
            <Checkbox
              key={name}
              label={`${toPlainText(name, 80)}: ${countOf(counts.get(name) ?? 0, 'delivery', 'deliveries')}`}
              checked={scope !== 'all' && scope.includes(name)}
              onValue={(isChosen) => toggle(name, isChosen)}
            />
          ))}
        </div>
        {names.length > 1 && (
          <Checkbox
            label="All sources, also those without deliveries in the queue"
            checked={scope === 'all'}
            onValue={(isChosen) => onScope(isChosen ? 'all' : [])}
          />
        )}
      </FieldGroup>
      {sources.answer?.cursor !== undefined && <p class="hint">The relay has more sources than are listed.</p>}
      <Problem error={sources.error ?? list.error} onRetry={sources.error ? sources.reload : list.more} />
    </>
  );
}

async function count(userId: string, cursor: string | undefined, signal: AbortSignal) {
  const counts = await get<DeliveryCounts>('deliveries/count', { query: { userId, cursor }, signal });
  return { rows: [counts], cursor: counts.cursor };
}

function bySource(answers: DeliveryCounts[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { source, count } of answers.flatMap(({ groups }) => groups)) {
    counts.set(source, (counts.get(source) ?? 0) + count);
  }
  return new Map([...counts].sort(([, one], [, other]) => other - one));
}
