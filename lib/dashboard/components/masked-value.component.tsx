/** Stands for a secret, which no answer of the API has. */
export function MaskedValue() {
  return (
    <span class="muted" title="Secrets are not shown.">
      <span aria-hidden="true">•••</span>
      <span class="visually-hidden">hidden</span>
    </span>
  );
}
