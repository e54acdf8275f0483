/** Types of the messages that the relay accepts. */
export const MESSAGE_TYPES = ['track', 'identify', 'page', 'screen', 'group', 'alias'];

/** Types of the messages that destinations receive. */
export const DELIVERED_TYPES = [...MESSAGE_TYPES, 'delete'];
