export * from './atms.js';
export * from './client.js';
export * from './clients.js';
export { SignpostError, type ClientErrorCode, type ErrorCode, type ServiceErrorCode } from './error.js';
export type { SignpostOptions } from './transport.js';
export type * from './wire.js';
export { webhooks, type HeaderFields } from './webhooks.js';
