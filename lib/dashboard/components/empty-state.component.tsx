import type { ComponentChildren } from 'preact';

/** Stands where a list would be. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
