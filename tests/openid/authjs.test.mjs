// Auth.js, with its own routes, cookies and session.
import { journeys, stage } from './journeys.mjs';

journeys('Auth.js', stage([process.execPath, 'sites/authjs.mjs'], { redirect: '/auth/callback/signpost' }), {
  claims: ['sub', 'preferred_username', 'nickname', 'name', 'email', 'groups'],
  refuses: { denied: /OAuthCallbackError/, state: /unexpected "state"/, iss: /unexpected "iss"/ },
});
