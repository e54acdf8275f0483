/** The kinds of message a source records. */
export type MessageType = 'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias';

/** A moment: a `Date`, or an ISO 8601 string. */
export type Timestamp = Date | string;

/** Attributes of a user. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- traits hold whatever the application knows
export type UserTraits = Record<string, any>;

/** Attributes of a group of users. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- traits hold whatever the application knows
export type GroupTraits = Record<string, any>;

/** The details of one event. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- properties hold whatever the application records
export type EventProperties = Record<string, any>;

/** Extra facts about the call (device, IP address and similar); not attributes of the user. */
export interface ExtraContext {
  active?: boolean | undefined;
  ip?: string | undefined;
  locale?: string | undefined;
  userAgent?: string | undefined;
  page?:
    | {
        path?: string | undefined;
        referrer?: string | undefined;
        search?: string | undefined;
        title?: string | undefined;
        url?: string | undefined;
      }
    | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the application may add fields of its own
  [field: string]: any;
}

/** Destinations to enable or disable by their exact name; `All: false` disables those not named. */
export interface IntegrationsOptions {
  All?: boolean | undefined;
  [destination: string]: boolean | Record<string, unknown> | undefined;
}

/** At least one of the two ids is required. */
export type Identity =
  { userId: string; anonymousId?: string | undefined } | { userId?: string | undefined; anonymousId: string };

/** Fields that every kind of message may carry. */
export interface CommonParams {
  /** Extra context of the call. */
  context?: ExtraContext | undefined;
  /** When it happened. Default: now. */
  timestamp?: Timestamp | undefined;
  /** Destinations to enable or disable. Default: all enabled. */
  integrations?: IntegrationsOptions | undefined;
  /** Identifies the message, so that a repeated one can be dropped. Default: a new unique id. */
  messageId?: string | undefined;
}

/** Fields of an identify message. */
export type IdentifyParams = CommonParams & Identity & { traits?: UserTraits | undefined };

/** Fields of a track message. */
export type TrackParams = CommonParams & Identity & { event: string; properties?: EventProperties | undefined };

/** Fields of a page message. */
export type PageParams = CommonParams &
  Identity & {
    category?: string | undefined;
    name?: string | undefined;
    properties?: EventProperties | undefined;
  };

/** Fields of a screen message: those of a page. */
export type ScreenParams = PageParams;

/** Fields of a group message. */
export type GroupParams = CommonParams & Identity & { groupId: string; traits?: GroupTraits | undefined };

/** Fields of an alias message. */
export type AliasParams = CommonParams & { userId: string; previousId: string };

/** A message as it goes over the wire: normalised, with its type and id. */
export interface Message {
  type: MessageType;
  messageId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  userId?: string;
  anonymousId?: string;
  previousId?: string;
  groupId?: string;
  event?: string;
  name?: string;
  category?: string;
  properties?: EventProperties;
  traits?: UserTraits | GroupTraits;
  context?: ExtraContext;
  integrations?: IntegrationsOptions;
  /** Facts about the sender's runtime; never forwarded. */
  _metadata?: { nodeVersion?: string; recordedBy?: string };
}
