/** All message types. */
export const MESSAGE_TYPES = ['identify', 'track', 'page', 'screen', 'group', 'alias'] as const;

/** Message types that a source records. */
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** A point in time: a `Date` or an ISO 8601 string. */
export type Timestamp = Date | string;

/** Attributes of a user. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the application defines its traits
export type UserTraits = Record<string, any>;

/** Attributes of a group of users. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the application defines its traits
export type GroupTraits = Record<string, any>;

/** The details of one event. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the application defines its properties
export type EventProperties = Record<string, any>;

/** Additional facts about the call, such as device and IP address; not attributes of the user. */
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

/** Destinations to enable or disable by their exact name; `All: false` disables every destination not named. */
export interface IntegrationsOptions {
  All?: boolean | undefined;
  [destination: string]: boolean | Record<string, unknown> | undefined;
}

/** Ids of the user. At least one of the two is required. */
export type Identity =
  { userId: string; anonymousId?: string | undefined } | { userId?: string | undefined; anonymousId: string };

/** Optional fields common to all message types. */
export interface CommonParams {
  /** Additional context of the call. */
  context?: ExtraContext | undefined;
  /** When the event happened. Default: now. */
  timestamp?: Timestamp | undefined;
  /** Destinations to enable or disable. Default: all enabled. */
  integrations?: IntegrationsOptions | undefined;
  /** Identifies the message for deduplication. Default: a new unique id. */
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

/** Fields of a screen message, the same as those of a page message. */
export type ScreenParams = PageParams;

/** Fields of a group message. */
export type GroupParams = CommonParams & Identity & { groupId: string; traits?: GroupTraits | undefined };

/** Fields of an alias message. */
export type AliasParams = CommonParams & { userId: string; previousId: string };

/** Properties and context that are added to every event without its own. */
export interface EventDefaults {
  /** Added to the properties of `track`, `page` and `screen` messages. */
  properties?: EventProperties | undefined;
  /** Added to the context of all messages. */
  context?: ExtraContext | undefined;
}

/** A message as it is sent: normalised, with its type and id. */
export interface Message {
  type: MessageType;
  messageId: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  userId?: string | undefined;
  anonymousId?: string | undefined;
  previousId?: string | undefined;
  groupId?: string | undefined;
  event?: string | undefined;
  name?: string | undefined;
  category?: string | undefined;
  properties?: EventProperties | undefined;
  traits?: UserTraits | GroupTraits | undefined;
  context?: ExtraContext | undefined;
  integrations?: IntegrationsOptions | undefined;
  /** Facts about the sender's runtime; never forwarded. */
  _metadata?: { nodeVersion?: string; recordedBy?: string } | undefined;
}

/** A message as plugins, callbacks and listeners receive it. */
export interface ContextEvent extends Omit<Message, 'timestamp'> {
  /** A `Date`, unless the message was given a string in another format than that of `Date.prototype.toISOString`. */
  timestamp: Timestamp;
}
