// .env.local
//   AUTH_SECRET="@drawn@"
//   AUTH_SIGNPOST_ID="@client_id@"
//   AUTH_SIGNPOST_SECRET="@client_secret@"

// auth.ts
import NextAuth from 'next-auth';

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [
    {
      id: 'signpost',
      name: 'Signpost',
      type: 'oidc',
      issuer: '@issuer@',
      clientId: process.env.AUTH_SIGNPOST_ID,
      clientSecret: process.env.AUTH_SIGNPOST_SECRET,
      authorization: { params: { scope: 'openid profile email' } },
      checks: ['pkce', 'state', 'nonce'],
    },
  ],
});
