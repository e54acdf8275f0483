import { signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const KEY = 'relay-theme';

export const theme = signal<Theme>(stored());

export function setTheme(next: Theme): void {
  theme.value = next;
  applyTheme();
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage, the theme lasts until the page is closed.
  }
}

/** Applies the theme to the style sheet, whose colours follow `color-scheme`. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

function stored(): Theme {
  try {
    return THEMES.find((candidate) => candidate === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system';
  }
}
