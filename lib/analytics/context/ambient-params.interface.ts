/** Parameters of a message whose ids may come from the ambient context. */
export type AmbientParams<Params> = Omit<Params, 'userId' | 'anonymousId' | 'groupId'> & {
  userId?: string | undefined;
  anonymousId?: string | undefined;
  /** The group of `group` messages, and `context.groupId` of all others. */
  groupId?: string | undefined;
};
