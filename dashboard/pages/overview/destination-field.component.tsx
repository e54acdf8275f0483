import { useState } from 'preact/hooks';

import { get } from '../../api/api.client.js';
import { useAnswer } from '../../api/answer.hook.js';
import { SuggestionField } from '../../components/field.component.js';

/** Maximum number of suggestions. */
const MAX_NAMES = 20;

interface DestinationFieldProps {
  value: string;
  onValue: (name: string) => void;
  /** Names to suggest before anything is typed. */
  suggested: string[];
}

/** A field for the name of a destination, which suggests names that contain what is typed. */
export function DestinationField({ value, onValue, suggested }: DestinationFieldProps) {
  const [typed, setTyped] = useState<string>();
  const load = async (signal: AbortSignal) => {
    if (!typed) return undefined;
    const query = { name: typed, limit: String(MAX_NAMES) };
    const { destinations } = await get<{ destinations: { name: string }[] }>('destinations', { query, signal });
    return destinations.map(({ name }) => name);
  };
  const { answer } = useAnswer(load, typed ?? ''); // without suggestions, a name can still be typed
  return (
    <SuggestionField
      label="Destination"
      placeholder="All"
      value={typed ?? value}
      suggestions={typed ? (answer ?? []) : suggested}
      onTyped={setTyped}
      onValue={(name) => {
        setTyped(undefined);
        onValue(name);
      }}
    />
  );
}
