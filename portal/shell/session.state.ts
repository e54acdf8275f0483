import { computed, signal } from '@preact/signals';

import type { Session } from '../api/portal.answers.js';

/** What the link allows; undefined until the API has answered it. */
export const session = signal<Session | undefined>();

/** Whether the link may change something. */
export const canChange = computed(() => session.value?.access === 'write');

/** Where the application wants its customers back; only where it is a page. */
export function returnUrl(): string | undefined {
  const url = session.value?.returnUrl;
  return url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
}
