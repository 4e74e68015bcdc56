// Sign-In with Ethereum by the npm package siwe behind Fastify, as its README has it: a message and its signature are
// posted and verified.
import { Wallet } from 'ethers';
import Fastify from 'fastify';
import { generateNonce, SiweMessage } from 'siwe';

const wallet = new Wallet('0x' + '07'.repeat(32));
const nonce = generateNonce();
const message = new SiweMessage({
  domain: 'example.com', address: wallet.address, statement: 'Log in', uri: 'https://example.com/', version: '1',
  chainId: 1, nonce,
}).prepareMessage();
const sample = { message, signature: await wallet.signMessage(message) };

const app = Fastify();
app.get('/sample', async () => sample);
app.post('/verify', async (request) => {
  const verified = await new SiweMessage(request.body.message)
    .verify({ signature: request.body.signature, domain: 'example.com', nonce });
  return { valid: verified.success };
});
await app.listen({ port: 0, host: '127.0.0.1' });
console.log(`http://127.0.0.1:${app.server.address().port}/`);
