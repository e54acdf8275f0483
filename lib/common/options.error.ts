export { OptionsError } from '../client/options.error.js';
