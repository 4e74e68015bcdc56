// .env.local
//   AUTH_SECRET="DRAWN"
//   AUTH_SIGNPOST_ID="CLIENT"
//   AUTH_SIGNPOST_SECRET="SECRET"

// auth.ts
import NextAuth from 'next-auth';

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [
    {
      id: 'signpost',
      name: 'Signpost',
      type: 'oidc',
      issuer: 'ISSUER',
      clientId: process.env.AUTH_SIGNPOST_ID,
      clientSecret: process.env.AUTH_SIGNPOST_SECRET,
      authorization: { params: { scope: 'openid profile email' } },
      checks: ['pkce', 'state', 'nonce'],
    },
  ],
});
