/** Parameters of a message whose ids may come from the ambient context. */
export type AmbientParams<Params> = Omit<Params, 'userId' | 'anonymousId' | 'groupId'> & {
  userId?: string | undefined;
  anonymousId?: string | undefined;
  /** The group of a `group` message; `context.groupId` of any other message. */
  groupId?: string | undefined;
};
