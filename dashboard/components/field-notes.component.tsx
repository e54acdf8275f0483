export interface FieldNotesProps {
  hint?: string | undefined;
  error?: string | undefined;
}

/** Returns the ids of a field's notes, for its `aria-describedby`. */
export function idsOfNotes(id: string, { hint, error }: FieldNotesProps): string | undefined {
  return [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
}

/** The hint and the error of a field. */
export function FieldNotes({ id, hint, error }: FieldNotesProps & { id: string }) {
  return (
    <>
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class="field-error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}
