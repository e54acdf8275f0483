// MERGE: `generateSecret`, `publicKeyOf` and `SignatureScheme` are those of receiver/webhook-secret.rules.ts, `PublicKeySet`
// of portal/jwks.ts, and `EventCatalogue` of portal/event-catalogue.ts. This file goes.
import { randomBytes } from 'node:crypto';

export type SignatureScheme = 'v1' | 'v1a';

export const generateSecret = (scheme: SignatureScheme): string =>
  `${scheme === 'v1' ? 'whsec_' : 'whsk_'}${randomBytes(32).toString('base64')}`;

export const publicKeyOf = (secret: string): string | undefined =>
  secret.startsWith('whsk_') ? 'whpk_'.padEnd(49, 'A') : undefined;

export class PublicKeySet {
  constructor(_destinations: unknown) {}

  answer(_kid?: string): Promise<{ body: string; etag: string; maxAge: number } | undefined> {
    return Promise.resolve({ body: '{"keys":[]}', etag: '"none"', maxAge: 300 });
  }
}

export interface CatalogueEvent {
  name: string;
  description?: string;
  schema?: object;
  example?: object;
}

export class EventCatalogue {
  constructor(private readonly events: CatalogueEvent[]) {}

  list(): CatalogueEvent[] {
    return this.events;
  }

  find(name: string): CatalogueEvent | undefined {
    return this.events.find((event) => event.name === name);
  }

  openApi(): object {
    return { openapi: '3.1.0', webhooks: {} };
  }

  asyncApi(): object {
    return { asyncapi: '3.0.0', channels: {} };
  }
}
