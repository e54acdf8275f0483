import type { Endpoint, SignatureKind } from '../../api/portal.answers.js';

/** What the form of an endpoint has. */
export interface Draft {
  url: string;
  description: string;
  /** Whether it gets all events. */
  takesAll: boolean;
  /** The chosen ones otherwise. */
  events: string[];
  signature: SignatureKind;
}

export const NEW: Draft = { url: '', description: '', takesAll: true, events: [], signature: 'v1' };

/** Names of the fields in the API. */
export const FIELDS = ['url', 'description', 'events', 'signature'] as const;

export function toDraft({ url, description = '', events }: Endpoint): Draft {
  return { ...NEW, url, description, takesAll: events === null, events: events ?? [] };
}

/** Returns the body of a request that creates an endpoint. */
export function toBody({ url, description, takesAll, events, signature }: Draft): object {
  return {
    url: url.trim(),
    ...(description.trim() !== '' && { description: description.trim() }),
    ...(!takesAll && { events }),
    signature,
  };
}

/** Returns the body of a request that changes an endpoint: the fields that differ. */
export function toChange(draft: Draft, before: Draft): object {
  const { takesAll, events } = draft;
  const text = (name: 'url' | 'description') => draft[name] !== before[name] && { [name]: draft[name].trim() };
  const hasOtherEvents =
    takesAll !== before.takesAll || (!takesAll && JSON.stringify(events) !== JSON.stringify(before.events));
  return { ...text('url'), ...text('description'), ...(hasOtherEvents && { events: takesAll ? null : events }) };
}
