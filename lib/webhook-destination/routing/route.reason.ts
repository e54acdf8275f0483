/** Why a destination does not receive a message. */
export type RouteReason = 'disabled' | 'source' | 'type' | 'event' | 'integrations';
