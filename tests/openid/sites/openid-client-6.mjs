// A site with openid-client 6. `SITE_ALG` is the required signature algorithm of ID tokens.
import * as openid from 'openid-client';
import { serve } from './serve.mjs';

serve(async ({ issuer, client_id, client_secret, origin }) => {
  // Also checks signatures, which the library ignores for a trusted token endpoint.
  const execute = [openid.allowInsecureRequests, openid.enableNonRepudiationChecks];
  const metadata = { client_secret, ...(process.env.SITE_ALG && { id_token_signed_response_alg: process.env.SITE_ALG }) };
  const config = await openid.discovery(new URL(issuer), client_id, metadata, undefined, { execute });
  const checks = (begun) => ({
    pkceCodeVerifier: begun.verifier,
    expectedState: begun.state,
    expectedNonce: begun.nonce,
    idTokenExpected: true,
  });
  return {
    async '/login'(url, session) {
      const verifier = openid.randomPKCECodeVerifier();
      const [state, nonce] = [openid.randomState(), openid.randomNonce()];
      session.begun = { verifier, state, nonce: url.searchParams.has('spoil') ? 'another' : nonce };
      return openid.buildAuthorizationUrl(config, {
        redirect_uri: `${origin}/callback`,
        scope: 'openid profile email offline_access',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(url.searchParams.has('prompt') && { prompt: url.searchParams.get('prompt') }),
      });
    },
    async '/callback'(url, session) {
      session.tokens = await openid.authorizationCodeGrant(config, url, checks(session.begun));
      const { sub } = session.tokens.claims();
      const userinfo = await openid.fetchUserInfo(config, session.tokens.access_token, sub);
      session.user = { ...session.tokens.claims(), userinfo };
      return new URL('/', origin);
    },
    '/': (_, session) => session.user,
    async '/refresh'(_, session) {
      const before = session.tokens;
      const after = await openid.refreshTokenGrant(config, before.refresh_token);
      session.tokens = after;
      const { sub } = await openid.fetchUserInfo(config, after.access_token, before.claims().sub);
      return { sub, rotated: after.refresh_token !== before.refresh_token && after.access_token !== before.access_token };
    },
    async '/revoke'(_, session) {
      const active = async () => (await openid.tokenIntrospection(config, session.tokens.access_token)).active;
      const before = await active();
      await openid.tokenRevocation(config, session.tokens.refresh_token);
      return { before, after: await active() };
    },
    '/logout'(_, session) {
      const hint = session.tokens.id_token;
      delete session.user;
      return openid.buildEndSessionUrl(config, { post_logout_redirect_uri: `${origin}/`, id_token_hint: hint, state: 'bye' });
    },
  };
});
