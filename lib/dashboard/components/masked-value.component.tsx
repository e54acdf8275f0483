/** Placeholder for a secret, which the API never shows. */
export function MaskedValue() {
  return (
    <span class="muted" title="Secrets are not shown.">
      <span aria-hidden="true">•••</span>
      <span class="visually-hidden">hidden</span>
    </span>
  );
}
