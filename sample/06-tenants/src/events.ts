/** What the application sends to its customers: the portal shows it under Events. */
export const EVENTS = [
  {
    name: 'Order Completed',
    description: 'A person of your account has completed an order.',
    schema: {
      type: 'object',
      required: ['orderId', 'total'],
      properties: { orderId: { type: 'string' }, total: { type: 'number', description: 'In CHF' } },
    },
    example: { orderId: 'order-1', total: 42 },
  },
  { name: 'Order Refunded', description: 'You get the money of an order back.', example: { orderId: 'order-1' } },
];
