// A site with openid-client 5, the base of NextAuth 4.
import { Issuer, TokenSet, generators } from 'openid-client-5';
import { serve } from './serve.mjs';

serve(async ({ issuer, client_id, client_secret, origin }) => {
  const redirect_uri = `${origin}/callback`;
  const provider = await Issuer.discover(issuer);
  const client = new provider.Client({ client_id, client_secret, redirect_uris: [redirect_uri], response_types: ['code'] });
  return {
    '/login'(url, session) {
      const [verifier, state, nonce] = [generators.codeVerifier(), generators.state(), generators.nonce()];
      const spoil = url.searchParams.get('spoil');
      session.begun = { code_verifier: verifier, state, nonce: spoil === 'nonce' ? 'another' : nonce, spoil };
      const code_challenge = generators.codeChallenge(verifier);
      const scope = 'openid profile email offline_access';
      return new URL(client.authorizationUrl({ scope, code_challenge, code_challenge_method: 'S256', state, nonce, redirect_uri }));
    },
    async '/callback'(_, session, request) {
      const { spoil, ...checks } = session.begun;
      const tokens = await client.callback(redirect_uri, client.callbackParams(request), checks);
      if (spoil === 'at_hash') {
        await client.validateIdToken(new TokenSet({ ...tokens, access_token: 'another' }), checks.nonce, 'token');
      }
      session.tokens = tokens;
      session.user = { ...tokens.claims(), userinfo: await client.userinfo(tokens) };
      return new URL('/', origin);
    },
    '/': (_, session) => session.user,
    async '/refresh'(_, session) {
      const before = session.tokens;
      session.tokens = await client.refresh(before);
      const { sub } = await client.userinfo(session.tokens);
      return { sub, rotated: session.tokens.refresh_token !== before.refresh_token };
    },
    '/logout'(_, session) {
      const id_token_hint = session.tokens.id_token;
      delete session.user;
      return new URL(client.endSessionUrl({ id_token_hint, post_logout_redirect_uri: `${origin}/`, state: 'bye' }));
    },
  };
});
