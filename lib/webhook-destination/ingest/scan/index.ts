export { scanMessages } from './scan-messages.util.js';
