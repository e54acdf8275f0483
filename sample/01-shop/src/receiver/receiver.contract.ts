/** What the sender and the receiver of the webhooks agreed on. */
export const WEBHOOK_URL = 'http://localhost:3001/webhooks';
export const SHARED_SECRET = 'a secret of both';
