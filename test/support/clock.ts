import { jest } from '@jest/globals';

/** Sets the system's clock of this process by so many ms from where it is; `jest.restoreAllMocks` sets it right. */
export function setClock(offset: number): void {
  const { now } = Date;
  jest.spyOn(Date, 'now').mockImplementation(() => now() + offset);
}
