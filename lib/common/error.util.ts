export { errorMessage } from '../client/error.util.js';
