// openid-client 5, the base of NextAuth 4: it accepts only RS256, and checks `at_hash`.
import { journeys, stage } from './journeys.mjs';

journeys('openid-client 5', stage([process.execPath, 'sites/openid-client-5.mjs']), {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: {
    denied: /access_denied/,
    state: /state mismatch/,
    iss: /iss mismatch/,
    nonce: /nonce mismatch/,
    at_hash: /at_hash mismatch/,
  },
  refreshes: true,
  logsOut: true,
});
