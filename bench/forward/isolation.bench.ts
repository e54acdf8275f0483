import type { Goal } from './table.js';

export function measureIsolation(_full: boolean): Promise<Goal[]> {
  return Promise.resolve([]);
}
