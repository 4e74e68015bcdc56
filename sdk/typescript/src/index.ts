export * from './atms.js';
export * from './client.js';
export { SignpostError } from './error.js';
export type { SignpostOptions } from './transport.js';
export type * from './wire.js';
export { webhooks, type HeaderFields } from './webhooks.js';
