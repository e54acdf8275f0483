/** Why a destination does not get a message. */
export type RouteReason = 'disabled' | 'source' | 'type' | 'event' | 'integrations';
