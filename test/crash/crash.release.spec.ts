import { describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { CrashLane, UNRECORDED } from './crash.lane.js';

/** Kills in all. */
const KILLS = Number(process.env.CRASH_KILLS ?? 200);

/** Relays that are killed side by side, each with a file of its own. */
const LANES = 2;

describe('A relay under load', () => {
  const afterwards = useCleanUps();

  async function createLane(first = 0): Promise<CrashLane> {
    const folder = await temporaryFolder(afterwards);
    const lane = new CrashLane(folder.path('relay.db'), first);
    await lane.open();
    afterwards(() => lane.close());
    return lane;
  }

  /** What was acknowledged has ended, and is on record with its attempts. */
  async function expectNothingLost(lane: CrashLane): Promise<void> {
    const records = await lane.finish();
    const ended = new Map(records.map((record) => [record.messageId, record]));
    expect(records).toHaveLength(ended.size);
    for (const messageId of lane.acknowledged) {
      const { state, attempts } = ended.get(messageId) ?? {};
      expect({ messageId, state }).toEqual({ messageId, state: messageId.startsWith('gone') ? 'dead' : 'delivered' });
      expect(attempts!.length).toBeGreaterThan(0);
      const succeeded = attempts!.some(({ results }) => results.some(({ outcome }) => outcome === 'success'));
      expect(succeeded).toBe(state === 'delivered');
      if (state === 'delivered') expect(lane.receiver.successes.get(messageId)).toBeGreaterThan(0);
    }
  }

  it(
    `loses nothing when it is killed ${KILLS} times, and repeats only what was in flight`,
    async () => {
      const lanes = await Promise.all(Array.from({ length: LANES }, (_, lane) => createLane(lane * 5)));
      await Promise.all(
        lanes.map(async (lane) => {
          while (lane.moments.length < KILLS / LANES) await lane.killOne();
          await expectNothingLost(lane);
        }),
      );
      let acknowledged = 0;
      let repeated = 0;
      for (const lane of lanes) {
        expect(lane.wrongly).toEqual([]);
        const twice = [...lane.receiver.successes.values()].reduce((sum, count) => sum + count - 1, 0);
        expect(twice).toBeLessThanOrEqual(lane.moments.length * UNRECORDED);
        acknowledged += lane.acknowledged.size;
        repeated += twice;
      }
      const moments = lanes.flatMap((lane) => lane.moments);
      const counted = [...new Set(moments)].map(
        (moment) => `${moment} ${moments.filter((one) => one === moment).length}`,
      );
      console.info(
        `${KILLS} kills (${counted.join(', ')}): ${acknowledged} acknowledged, 0 lost, ${repeated} delivered twice`,
      );
    },
    (60 + KILLS * 10) * 1_000,
  );

  it('finishes at SIGTERM, and leaves the rest to the next one', async () => {
    const lane = await createLane();
    const { code, elapsed } = await lane.terminateOne();
    expect(code).toBe(0);
    expect(elapsed).toBeLessThan(8_000);
    await expectNothingLost(lane);
    expect([...lane.receiver.successes.values()].every((count) => count === 1)).toBe(true);
  });
});
