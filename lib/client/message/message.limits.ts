/** Largest message, in bytes of its JSON in UTF-8. */
export const MAX_MESSAGE_BYTES = 32 * 1024;

/** Largest batch request, in bytes of the whole body. */
export const MAX_BATCH_BYTES = 500 * 1024;

/** A messageId is shorter than this many characters. */
export const MAX_MESSAGE_ID_LENGTH = 100;
