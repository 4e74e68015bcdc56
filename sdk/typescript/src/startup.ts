// The check of the settings when a site starts.
import type { Signpost } from './client.js';
import { SignpostError } from './error.js';

/** Timeout of the check, in seconds. */
const TIMEOUT = 5;

/** @internal Checks the key, the base URL and the domain with the service, and logs a fault. Never throws. */
export async function checkSettings(signpost: Signpost, domain: string, log: (line: string) => void): Promise<void> {
  try {
    const fault = await findFault(signpost.with({ timeout: TIMEOUT, retries: 0 }), domain);
    if (fault) log(`signpost: logins will fail: ${fault}`);
  } catch (error) {
    log(`signpost: the check of the settings failed: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
}

/** Returns a sentence about the first fault, with its remedy; undefined if there is none. */
async function findFault(signpost: Signpost, domain: string): Promise<string | undefined> {
  try {
    const handler = await findHandler(signpost, domain);
    if (handler === undefined) return `the domain ${domain} is not registered with this API key: run signpost domains add ${domain} --handler hosted`;
    if (handler === 'direct') return `the domain ${domain} has the handler direct, and the login page requires the handler hosted`;
    return undefined;
  } catch (error) {
    if (!(error instanceof SignpostError)) throw error;
    return describe(error, signpost.baseUrl);
  }
}

/** Returns the handler of a domain of this account; undefined if there is no such domain. */
async function findHandler(signpost: Signpost, domain: string): Promise<string | undefined> {
  try {
    return (await signpost.domains.get(domain)).handler ?? 'unknown';
  } catch (error) {
    if (!(error instanceof SignpostError) || error.code !== 'domain_not_found') throw error;
  }
  // Earlier versions of the service find a domain only by its ID.
  for await (const listed of signpost.domains.all()) {
    if (listed.domain === domain) return (await signpost.domains.get(listed.id)).handler;
  }
  return undefined;
}

function describe(error: SignpostError, baseUrl: string): string {
  if (error.code === 'invalid_api_key') {
    return `${baseUrl} rejects the API key: check its value, and whether it belongs to the environment of the base URL (${error.message})`;
  }
  if (error.code === 'insufficient_scope') return `the API key has no scope auth: create one with signpost keys create --scope auth (${error.message})`;
  if (error.code === 'connection_failed' || error.code === 'timeout') return `the service cannot be reached at the base URL ${baseUrl} (${error.message})`;
  if (error.code === 'invalid_response' || error.status === 404) return `the base URL ${baseUrl} is not that of a Signpost server; it ends in /v1 or /sandbox/v1 (${error.message})`;
  return `the service at ${baseUrl} replied with ${error.code} (${error.message})`;
}
