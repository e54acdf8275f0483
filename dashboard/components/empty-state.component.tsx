import type { ComponentChildren } from 'preact';

/** Shown in place of an empty list. */
export function EmptyState({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
