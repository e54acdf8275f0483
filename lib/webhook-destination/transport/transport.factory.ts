import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { HttpService } from '@nestjs/axios';

import { OptionsError } from '../../common/options.error.js';
import { PackageError } from '../../common/relay.errors.js';
import { checkPeer } from '../../common/peer.check.js';
import type { ConnectionOptions } from './connection.options.js';
import { AxiosTransport, BoundedTransport } from './application.transport.js';
import { ConnectionPool } from './connection-pool.js';
import { guardedConnector } from './guarded.connector.js';
import { NetworkPolicy } from './network.policy.js';
import { proxyChoice, type ProxyChoice, proxyConnector } from './proxy.connector.js';
import type { ConnectionTransport } from './receiver-connection.js';
import { socketBudget } from './socket-budget.js';
import { isWebhookTransport } from './webhook-transport.interface.js';
import { UndiciTransport } from './undici.transport.js';
import type { WebhookTarget } from './webhook-target.js';

/** Creates the connections to one URL: `size` at most. */
export type PoolFactory = (target: WebhookTarget, size: number) => Pick<ConnectionPool, 'post' | 'endWaits' | 'close'>;

/** The factory of connections, and the choices that it makes for each. */
export interface Connections {
  createPool: PoolFactory;
  policy: NetworkPolicy;
  proxyFor: ProxyChoice;
  /** Applies `maxSockets` to the process until the returned function is called. */
  joinBudget: () => () => void;
}

/**
 * Loads the transport that the options select.
 *
 * @throws {PackageError} naming the packages to install
 * @throws {OptionsError} if no module provides the `HttpService` that the options name
 */
export async function loadConnections(options: ConnectionOptions, moduleRef: ModuleRef): Promise<Connections> {
  const transport = await loadTransport(options, moduleRef);
  const { allowedNetworks, deniedNetworks, ca, proxy, timeout, maxSockets } = options;
  const policy = new NetworkPolicy(allowedNetworks, deniedNetworks);
  const direct = guardedConnector(policy, timeout, ca);
  const proxyFor = proxyChoice(proxy);
  const createPool: PoolFactory = (target, size) => {
    const chosen = proxyFor(new URL(target.url));
    const connector = chosen ? proxyConnector(chosen, policy, options) : direct;
    return new ConnectionPool(socketBudget(), connector, transport(target), size, timeout);
  };
  return { createPool, policy, proxyFor, joinBudget: () => socketBudget().join(maxSockets) };
}

async function loadTransport(
  { transport }: ConnectionOptions,
  moduleRef: ModuleRef,
): Promise<(target: WebhookTarget) => ConnectionTransport> {
  if (isWebhookTransport(transport)) return (target) => () => new BoundedTransport(transport, target.url);
  if (transport === 'undici') return (target) => (connect) => new UndiciTransport(target, connect);

  const create = await loadAxios();
  const http = transport === 'axios' ? create() : findHttpService(transport.axios, moduleRef);
  return (target) => (connect) => {
    const connection = new UndiciTransport(target, connect);
    return new BoundedTransport(new AxiosTransport(http, connection), target.url, () => connection.close());
  };
}

function findHttpService(token: InjectionToken, moduleRef: ModuleRef): HttpService {
  const name = typeof token === 'function' ? token.name : String(token);
  let http: HttpService;
  try {
    http = moduleRef.get<HttpService>(token, { strict: false });
  } catch {
    throw new OptionsError('WebhookDestinationModule', [`delivery.transport names ${name}, which no module provides`]);
  }
  if (typeof (http as Partial<HttpService> | undefined)?.request === 'function') return http;
  throw new OptionsError('WebhookDestinationModule', [`delivery.transport names ${name}, which is not an HttpService`]);
}

/** Resolves with a function that creates an `HttpService` independent of the application's. */
async function loadAxios(): Promise<() => HttpService> {
  checkPeer("delivery.transport 'axios'", 'axios');
  try {
    const { HttpService } = await import('@nestjs/axios');
    return () => {
      const instance = new HttpService().axiosRef.create();
      // A new instance has the defaults that the application may have set for all instances.
      instance.defaults.headers = {} as typeof instance.defaults.headers;
      return new HttpService(instance);
    };
  } catch (cause) {
    const fault = "delivery.transport 'axios' needs two more packages: npm install @nestjs/axios axios";
    throw new PackageError('package_missing', fault, { cause });
  }
}
