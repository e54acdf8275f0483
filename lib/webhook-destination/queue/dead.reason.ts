/**
 * Why a delivery is dead that the network policy stopped. The operator's options failed, and not the receiver: once they
 * are mended, the next start sends it again. An attempt's error begins with it as well.
 */
export const ADDRESS_NOT_ALLOWED = 'address not allowed by delivery.allowedNetworks';
