import { signal } from '@preact/signals';

import { readStored, store } from './browser-storage.util.js';

export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

const KEY = 'relay-theme';

export const theme = signal<Theme>(THEMES.find((candidate) => candidate === readStored(KEY)) ?? 'system');

export function setTheme(next: Theme): void {
  theme.value = next;
  applyTheme();
  store(KEY, next);
}

/** Applies the theme to the style sheet, whose colours follow `color-scheme`. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}
