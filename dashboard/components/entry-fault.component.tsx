import { PlainText } from './plain-text.component.js';

/** Says why this process does not use a source or destination of the registry; renders nothing if it does. */
export function EntryFault({ fault }: { fault: string | undefined }) {
  if (fault === undefined) return null;
  return (
    <p class="problem">
      Not used by this process: <PlainText value={fault} max={1_000} />
    </p>
  );
}
