import type { Goal } from './table.js';

export function measureBacklog(_full: boolean): Promise<Goal[]> {
  return Promise.resolve([]);
}
