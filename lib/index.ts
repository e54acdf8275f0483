export * from './client/index.js';
export * from './webhook-destination/index.js';
