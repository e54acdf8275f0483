// The event that every library records: about 600 bytes as a message on the wire.
export const userId = 'user-8d3f2a10';
export const name = 'Order Completed';
export const properties = {
  orderId: '7f9c2ba4e88f827d',
  revenue: 129.9,
  currency: 'EUR',
  coupon: 'SPRING',
  items: [
    { sku: 'G-32', name: 'Monopoly: 3rd Edition', price: 19, quantity: 1, category: 'Games' },
    { sku: 'F-17', name: 'Uno Card Game', price: 3, quantity: 2, category: 'Games' },
  ],
};
