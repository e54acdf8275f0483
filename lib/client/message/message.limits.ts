/** Maximum size of a message: bytes of its JSON in UTF-8. */
export const MAX_MESSAGE_BYTES = 32 * 1024;

/** Maximum size of a batch request: bytes of the whole body. */
export const MAX_BATCH_BYTES = 500 * 1024;

/** A messageId must be shorter than this number of characters. */
export const MAX_MESSAGE_ID_LENGTH = 100;
