// Debian's go-oidc, with the Go of the SDK's tests: it accepts only RS256, and checks `at_hash` on request.
import { journeys, stage } from './journeys.mjs';

journeys('go-oidc', stage(['.cache/go-oidc-site']), {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: { denied: /access_denied/, state: /another state/, nonce: /another nonce/, at_hash: /hash/ },
  refreshes: true,
  logsOut: true,
});
