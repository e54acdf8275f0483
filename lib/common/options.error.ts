export { OptionsError, throwFaults } from '../client/options.error.js';
