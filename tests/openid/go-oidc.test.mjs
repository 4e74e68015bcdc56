// Debian's go-oidc, with the Go of the SDK's tests: it takes no algorithm but RS256, and `at_hash` where it is asked to.
import { journeys, stage } from './journeys.mjs';

journeys('go-oidc', stage(['.cache/go-oidc-site']), {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: { denied: /access_denied/, state: /another state/, nonce: /another nonce/, at_hash: /hash/ },
  refreshes: true,
  logsOut: true,
});
