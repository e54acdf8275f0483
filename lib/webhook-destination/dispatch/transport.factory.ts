import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { HttpService } from '@nestjs/axios';

import { OptionsError } from '../../common/options.error.js';
import { checkPeer } from '../../common/peer.check.js';
import type { DeliveryOptions } from '../options/delivery.options.js';
import { BoundedTransport } from './bounded.transport.js';
import { type EgressProxy, proxyChoice } from './egress.proxy.js';
import { guardedConnector } from './guarded.connector.js';
import { NetworkPolicy } from './network.policy.js';
import { proxyConnector } from './proxy.connector.js';
import { isWebhookTransport } from './transport.option.js';
import { UndiciTransport } from './undici.transport.js';
import type { TargetTransport } from './webhook-transport.interface.js';
import type { WebhookTarget } from './webhook.target.js';

/** Makes the transport to one URL. */
export type TransportFactory = (target: WebhookTarget) => TargetTransport;

/**
 * The transports that the options ask for.
 *
 * @throws {Error} that says what to install
 * @throws {OptionsError} where no module provides the `HttpService` that the options name
 */
export async function loadTransport(options: DeliveryOptions, moduleRef: ModuleRef): Promise<TransportFactory> {
  const { timeout, transport } = options;
  if (isWebhookTransport(transport)) return ({ url }) => new BoundedTransport(transport, url, timeout);
  const direct = directTransport(options);
  if (transport === 'undici') return direct;

  const [create, { AxiosTransport }] = await Promise.all([loadAxios(), import('./axios.transport.js')]);
  const http = transport === 'axios' ? create() : findHttpService(transport.axios, moduleRef);
  return (target) => {
    const connections = direct(target);
    return new BoundedTransport(new AxiosTransport(http, connections), target.url, timeout, () => connections.close());
  };
}

function directTransport(options: DeliveryOptions): TransportFactory {
  const { allowedNetworks, deniedNetworks, ca, concurrency, proxy, timeout } = options;
  const policy = new NetworkPolicy(allowedNetworks, deniedNetworks);
  const connect = guardedConnector(policy, timeout, ca);
  const proxyFor = proxyChoice(proxy);
  const through = (chosen: EgressProxy) => proxyConnector(chosen, policy, options);
  return (target) => {
    const chosen = proxyFor(new URL(target.url));
    return new UndiciTransport(target, chosen ? through(chosen) : connect, concurrency, timeout);
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

/** Resolves with what makes an `HttpService` that has nothing of the application's. */
async function loadAxios(): Promise<() => HttpService> {
  checkPeer("delivery.transport 'axios'", 'axios');
  try {
    const { HttpService } = await import('@nestjs/axios');
    return () => {
      const instance = new HttpService().axiosRef.create();
      // They begin as those that the application may have set for all instances.
      instance.defaults.headers = {} as typeof instance.defaults.headers;
      return new HttpService(instance);
    };
  } catch (cause) {
    throw new Error(`delivery.transport 'axios' needs two more packages: npm install @nestjs/axios axios`, { cause });
  }
}
