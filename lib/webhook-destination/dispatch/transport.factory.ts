import type { ModuleRef } from '@nestjs/core';

import { checkPeer } from '../../common/peer.check.js';
import type { DeliveryOptions } from '../options/delivery.options.js';
import { ConnectionPool } from './connection.pool.js';
import { guardedConnector } from './guarded.connector.js';
import { NetworkPolicy } from './network.policy.js';
import type { ConnectionTransport } from './receiver.connection.js';
import { socketBudget } from './socket.budget.js';
import { UndiciTransport } from './undici.transport.js';
import type { WebhookTarget } from './webhook.target.js';

/** Makes the connections to one URL. */
export type PoolFactory = (target: WebhookTarget) => ConnectionPool;

/**
 * The transports that the options ask for. Those through axios use the `HttpService` that the application has, or else
 * one of their own.
 *
 * @throws {Error} that says what to install
 */
export async function loadTransport(options: DeliveryOptions, moduleRef: ModuleRef): Promise<PoolFactory> {
  const { allowedNetworks, ca, concurrency, timeout, transport } = options;
  const connect = guardedConnector(new NetworkPolicy(allowedNetworks), timeout, ca);
  const pool = (create: ConnectionTransport) =>
    new ConnectionPool(socketBudget(), connect, create, concurrency, timeout);
  if (transport === 'undici') {
    return (target) => pool((connector) => new UndiciTransport(target, connector, timeout));
  }

  const [{ HttpService }, { AxiosTransport }] = await Promise.all([loadAxios(), import('./axios.transport.js')]);
  let http: InstanceType<typeof HttpService>;
  try {
    http = moduleRef.get(HttpService, { strict: false });
  } catch {
    http = new HttpService();
  }
  return (target) => pool((connector) => new AxiosTransport(http, target, connector, timeout));
}

async function loadAxios(): Promise<typeof import('@nestjs/axios')> {
  checkPeer("delivery.transport 'axios'", 'axios');
  try {
    return await import('@nestjs/axios');
  } catch (cause) {
    throw new Error(`delivery.transport 'axios' needs two more packages: npm install @nestjs/axios axios`, { cause });
  }
}
