import type { Package } from './package-under-test.js';
import { drawScenario, type Scenario } from './scenario.js';
import { simulate } from './simulate.js';
import type { Simulation } from './simulation.js';

/** Lines that each delivery has; of them, a story keeps those of the delivery at fault. */
const OF_DELIVERY = / (?:is (?:leased|recorded|sent)|lease of) /;

/**
 * Leaves out actions of a seed that breaks a rule, as long as the rule is broken without them. Resolves with the story
 * of what is left, with each request and outcome of the delivery at fault.
 */
export async function shrink(code: Package, use: (simulation: Simulation) => void, seed: number): Promise<string[]> {
  const ruleOf = async (scenario: Scenario) => (await simulate(code, use, seed, scenario)).violations[0];
  const scenario = drawScenario(seed);
  const rule = await ruleOf(scenario);
  let { actions } = scenario;
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < actions.length;) {
      const fewer = actions.filter((_, index) => index < start || index >= start + size);
      if ((await ruleOf({ ...scenario, actions: fewer })) === rule) actions = fewer;
      else start += size;
    }
  }
  const { story } = await simulate(code, use, seed, { ...scenario, actions }, true);
  const [, key] = /VIOLATION of ".*": (\S+)/.exec(story.join('\n')) ?? [];
  const { isShared, processes, fixed, changing, relay } = scenario.options;
  const { concurrency, retryWindow, maxSockets } = relay;
  const world = { isShared, processes, destinations: [...fixed, ...changing], concurrency, retryWindow, maxSockets };
  return [
    `seed ${seed}: ${rule}`,
    JSON.stringify(world),
    ...story.filter((line) => !OF_DELIVERY.test(line) || line.includes(` ${key} `)),
  ];
}
