import { pathToFileURL } from 'node:url';

/** The parts of the built package that a simulation puts together, from `dist/` or from a copy of it. */
export async function loadPackage(folder = `${process.cwd()}/dist/esm`) {
  const load = <T>(path: string) => import(/* @vite-ignore */ pathToFileURL(`${folder}/${path}.js`).href) as Promise<T>;
  const relay = 'webhook-destination';
  return {
    ...(await load<typeof import('../../lib/common/concealed.value.js')>('common/concealed.value')),
    ...(await load<typeof import('../../lib/common/relay.errors.js')>('common/relay.errors')),
    ...(await load<typeof import('../../lib/stores/memory/memory.store.js')>('stores/memory/memory.store')),
    ...(await load<typeof import('../../lib/webhook-destination/queue/delivery.queue.js')>(
      `${relay}/queue/delivery.queue`,
    )),
    ...(await load<typeof import('../../lib/webhook-destination/queue/query.util.js')>(`${relay}/queue/query.util`)),
    ...(await load<typeof import('../../lib/webhook-destination/queue/retention.options.js')>(
      `${relay}/queue/retention.options`,
    )),
    ...(await load<typeof import('../../lib/webhook-destination/queue/delivery-search.js')>(
      `${relay}/queue/delivery-search`,
    )),
    ...(await load<typeof import('../../lib/webhook-destination/relay-steps.js')>(`${relay}/relay-steps`)),
    ...(await load<typeof import('../../lib/webhook-destination/relay.lifecycle.js')>(`${relay}/relay.lifecycle`)),
    ...(await load<typeof import('../../lib/webhook-destination/transport/socket-budget.js')>(
      `${relay}/transport/socket-budget`,
    )),
    ...(await load<typeof import('../../lib/webhook-destination/webhook-destination.options.js')>(
      `${relay}/webhook-destination.options`,
    )),
    ...(await load<typeof import('../../lib/webhook-destination/webhook-destination.service.js')>(
      `${relay}/webhook-destination.service`,
    )),
    ...(await load<typeof import('../../lib/webhook-destination/visibility.options.js')>(
      `${relay}/visibility.options`,
    )),
    ...(await load<typeof import('../../lib/client/analytics.js')>('client/analytics')),
  };
}

export type Package = Awaited<ReturnType<typeof loadPackage>>;
