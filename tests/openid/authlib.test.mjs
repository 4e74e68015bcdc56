// Authlib, in Flask.
import { journeys, stage } from './journeys.mjs';

journeys('Authlib', stage(['venv/bin/python', 'sites/flask_site.py']), {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: {
    denied: /access_denied/,
    state: /mismatching_state/,
    nonce: /Invalid claim: 'nonce'/,
    at_hash: /Invalid claim: 'at_hash'/,
  },
  refreshes: true,
  logsOut: true,
});
